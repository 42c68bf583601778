#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "base/say.h"
#include "engine/checkpoint/load_recipe.h"
#include "engine/commands/commands.h"
#include "engine/commands/refuse.h"
#include "engine/data/corpus.h"
#include "engine/data/tokenizer_choice.h"
#include "engine/recipe/fault_lines.h"

namespace heddle::commands {
int tokenize_corpus(const RecipeOptions& options, int jobs) {
  const recipe::Parsed parsed =
      checkpoint::load_recipe_file(options.path, options.sets, options.ranks);
  if (!parsed.ok()) return refuse(recipe::lines_of(parsed.faults));
  if (!parsed.recipe.data.tokenizer.empty()) {
    const auto tokenizer = data::load_tokenizer(data::tokenizer_of(parsed.recipe.data));
    if (!tokenizer) return refuse(tokenizer.error().message);
    if (const std::string parting = data::parting_of(*tokenizer); !parting.empty())
      say(stderr, "{}\n", parting);
    for (const std::string& warning : data::warnings_of(*tokenizer)) say(stderr, "{}\n", warning);
  }
  const auto begin = Clock::now();
  const auto made = data::tokenize_corpus(
      parsed.recipe, {.jobs = jobs, .progress = [](const std::string& key, const auto& progress) {
                        say(stderr, "{}: {}\n", key, data::progress_text(progress));
                      }});
  if (!made) return refuse(made.error().message);
  for (const auto& [key, data, part, weight] : data::texts_of(parsed.recipe)) {
    const auto origin = data::store_origin(data, part);
    const auto totals = origin ? data::read_totals(origin->folder()) : fail(origin);
    if (!totals) return refuse(totals.error().message);
    if (!*totals) return refuse(fmt::format("{}: has changed meanwhile; start again", key));
    say("{}\n", json_text(nlohmann::ordered_json{{"key", key},
                                                 {"store", origin->folder()},
                                                 {"tokens", (*totals)->tokens},
                                                 {"documents", (*totals)->documents},
                                                 {"skipped", (*totals)->skipped},
                                                 {"bytes", (*totals)->bytes},
                                                 {"seconds", seconds_since(begin)}}));
  }
  return 0;
}

int locate_stores(const RecipeOptions& options) {
  const recipe::Parsed parsed =
      checkpoint::load_recipe_file(options.path, options.sets, options.ranks);
  if (!parsed.ok()) return refuse(recipe::lines_of(parsed.faults));
  for (const auto& [key, data, part, weight] : data::texts_of(parsed.recipe)) {
    const auto origin = data::store_origin(data, part);
    const auto totals = origin ? data::read_totals(origin->folder()) : fail(origin);
    if (!totals) return refuse(data::of_key(key, totals.error()).message);
    say("{}\n", json_text(nlohmann::ordered_json{{"key", key},
                                                 {"store", origin->folder()},
                                                 {"whole", totals->has_value()},
                                                 {"sources", origin->record}}));
  }
  return 0;
}

int tokenize(const TokenizeOptions& options) {
  auto tokenizer = data::Tokenizer::load(options.tokenizer);
  if (!tokenizer) return refuse(tokenizer.error().message);
  for (const std::string& warning : tokenizer->warnings())
    say(stderr, "{}: {}\n", options.tokenizer, warning);
  if (!options.decode) {
    const auto print = [&](const std::string& text) {
      const auto ids = tokenizer->encode(text);
      if (!ids) return refuse(ids.error().message);
      say("{}\n", fmt::join(*ids, " "));
      return 0;
    };
    if (!options.json) return print({std::istreambuf_iterator<char>(std::cin), {}});
    int64_t number = 1;
    for (std::string line; std::getline(std::cin, line); ++number) {
      const auto text = read_json(line, {.bytes = line.size(), .values = 1, .depth = 1});
      if (!text || !text->is_string())
        return refuse(fmt::format("line {}: is no text; valid: a JSON string", number));
      if (const int rc = print(text->get<std::string>()); rc != 0) return rc;
    }
    return 0;
  }
  std::vector<int32_t> ids;
  for (std::string word; std::cin >> word;) {
    char* end = nullptr;
    const long id = std::strtol(word.c_str(), &end, 10);
    if (*end != '\0' || id < 0 || id >= tokenizer->vocab_size())
      return refuse(fmt::format("\"{}\" is not a token id; valid: 0 to {}", word,
                                tokenizer->vocab_size() - 1));
    ids.push_back(static_cast<int32_t>(id));
  }
  const std::string text = tokenizer->decode(ids);
  std::cout.write(text.data(), static_cast<std::streamsize>(text.size()));
  return 0;
}

}  // namespace heddle::commands
