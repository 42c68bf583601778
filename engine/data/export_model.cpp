#include "engine/data/export_model.h"

#include <filesystem>
#include <memory>

#include "base/read_file.h"
#include "engine/checkpoint/companions.h"
#include "engine/checkpoint/reader.h"
#include "engine/data/export_tokenizer.h"
#include "engine/data/tokenizer_choice.h"
#include "engine/data/tokenizer_file.h"

namespace heddle::data {
namespace {

namespace fs = std::filesystem;
using checkpoint::Export, checkpoint::Notes, checkpoint::WriteBeside;

constexpr const char* kTokenizer = "tokenizer.json";

bool exists(const std::string& path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

Result<bool> are_alike(const std::string& one, const std::string& other) {
  const auto left = read_file(one, kTokenizerBudget.bytes);
  if (!left) return fail(left);
  const auto right = read_file_if_there(other, kTokenizerBudget.bytes);
  if (!right) return fail(right);
  return *right && *left == **right;
}

/// A run's tokenizer.json, where it is here; else none, and a note.
std::string where_it_is(const std::string& path, const std::string& source, Notes& notes) {
  if (path.empty() || exists(path)) return path;
  const bool has_another = !source.empty() && exists(source + '/' + kTokenizer);
  notes.push_back(
      fmt::format("{} is not here: the folder gets {}; --tokenizer names another place", path,
                  has_another ? "the tokenizer of " + source : std::string("no tokenizer")));
  return "";
}

/// The folder with a tokenizer's settings: the source's if the tokenizer is, else its own.
Result<std::string> settings_of(const std::string& path, const std::string& source) {
  if (!source.empty()) {
    const auto is_the_source = are_alike(path, source + '/' + kTokenizer);
    if (!is_the_source) return fail(is_the_source);
    if (*is_the_source) return source;
  }
  return fs::absolute(path).parent_path().string();
}

/// A special token's id: the one that the recipe has around documents, else the one that the
/// tokenizer's files name, else what parts documents.
std::optional<int32_t> token_of(const std::string& chosen, std::optional<int32_t> around,
                                const std::optional<SpecialToken>& named) {
  const bool is_chosen = !chosen.empty() && around;
  return is_chosen || !named ? around : named->id;
}

/// Writes another tokenizer than the source's, and has config.json name its tokens.
Result<WriteBeside> with_tokenizer(const TokenizerChoice& choice, const std::string& settings,
                                   const recipe::Model& model, Export& how) {
  const bool is_plain = choice.bos.empty() && choice.eos.empty();
  auto tokenizer = is_plain ? Tokenizer::load(choice.path) : load_tokenizer(choice);
  if (!tokenizer) return fail(tokenizer);
  if (tokenizer->vocab_size() > model.vocab_size)
    return fail("{}: {} tokens, but the model has {}; valid: its own tokenizer", choice.path,
                tokenizer->vocab_size(), model.vocab_size);
  const SpecialTokens& special = tokenizer->special_tokens();
  how.tokens = {.bos = token_of(choice.bos, tokenizer->bos_id(), special.bos),
                .eos = token_of(choice.eos, tokenizer->eos_id(), special.eos),
                .pad = token_of("", std::nullopt, special.pad)};
  return [path = choice.path, settings, longest = model.max_seq_len, tokens = *how.tokens,
          shared = std::make_shared<Tokenizer>(std::move(*tokenizer))](const std::string& folder) {
    return export_tokenizer(path, *shared, tokens, longest, settings, folder);
  };
}

/// The source's tokenizer comes with the source's settings; a token that the recipe puts after
/// documents ends texts, too.
Result<WriteBeside> with_sources_tokenizer(const TokenizerChoice& choice, Export& how) {
  if (!choice.path.empty() && !choice.eos.empty()) {
    const auto tokenizer = load_tokenizer(choice);
    if (!tokenizer) return fail(tokenizer);
    how.also_ends = tokenizer->eos_id();
  }
  return [source = how.source](const std::string& folder) {
    return checkpoint::copy_tokenizer(source, folder);
  };
}

}  // namespace

Result<Notes> export_model(const std::string& from, const std::string& to, Export how,
                           const std::string& tokenizer) {
  const auto opened = checkpoint::Checkpoint::open(from);
  if (!opened) return fail(opened);
  if (auto known = opened->check_format(); !known) return fail(known);
  const recipe::Recipe& recipe = opened->manifest().recipe;
  Notes notes;
  const auto source = checkpoint::companions_of(from);
  if (source)
    how.source = *source;
  else
    notes.push_back(source.error().message +
                    ": the folder gets none of the settings that the weights came with");
  TokenizerChoice choice{.path = tokenizer};
  if (tokenizer.empty()) {
    choice = tokenizer_of(recipe.data);
    choice.path = where_it_is(choice.path, how.source, notes);
  }
  const std::string& path = choice.path;
  const auto settings = path.empty() ? how.source : settings_of(path, how.source);
  if (!settings) return fail(settings);
  const bool is_sources = !how.source.empty() && *settings == how.source;
  Result<WriteBeside> beside = WriteBeside();
  if (is_sources)
    beside = with_sources_tokenizer(choice, how);
  else if (!path.empty())
    beside = with_tokenizer(choice, *settings, recipe.model, how);
  if (!beside) return fail(beside);
  const auto done = checkpoint::convert(from, to, how, *beside);
  if (!done) return fail(done);
  return notes;
}

}  // namespace heddle::data
