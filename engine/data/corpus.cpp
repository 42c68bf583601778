#include "engine/data/corpus.h"

#include <mutex>
#include <thread>

#include "base/guard.h"

namespace heddle::data {

Error of_key(const std::string& key, const Error& error) {
  constexpr std::string_view kText = "data.text:";
  if (!error.message.starts_with(kText)) return error;
  return {key + ":" + error.message.substr(kText.size())};
}

std::vector<Text> training_texts(const recipe::Data& data) {
  std::vector<Text> texts;
  if (!data.text.empty()) texts.push_back({"data.text", data});
  for (const recipe::MixPart& part : data.mix) {
    Text& text = texts.emplace_back(Text{"data.mix", data});
    text.data.text = part.text;
    text.data.mix.clear();
    text.weight = part.weight;
  }
  return texts;
}

Text validation_text(const recipe::Recipe& recipe) {
  Text text{"validation.text", recipe.data};
  text.data.token_ids.clear();
  text.data.mix.clear();
  if (!recipe.validation.text.empty()) {
    text.data.text = recipe.validation.text;
    text.data.held_out = 0;
    text.data.max_documents = 0;
    return text;
  }
  text.key = "data.held_out";
  text.part = Part::held_out;
  for (const recipe::MixPart& part : recipe.data.mix)
    text.data.text.insert(text.data.text.end(), part.text.begin(), part.text.end());
  return text;
}

std::vector<Text> texts_of(const recipe::Recipe& recipe) {
  std::vector<Text> texts = training_texts(recipe.data);
  if (recipe.validation.every > 0) texts.push_back(validation_text(recipe));
  return texts;
}

Result<bool> is_tokenized(const recipe::Recipe& recipe) {
  for (const auto& [key, data, part, weight] : texts_of(recipe)) {
    const auto origin = store_origin(data, part);
    if (!origin) return tl::unexpected(of_key(key, origin.error()));
    const auto totals = read_totals(origin->folder());
    if (!totals) return fail(totals);
    if (!*totals) return false;
  }
  return true;
}

Result<> tokenize_corpus(const recipe::Recipe& recipe, const CorpusOptions& options) {
  const std::vector<Text> texts = texts_of(recipe);
  std::vector<Result<>> outcomes(texts.size());
  std::mutex telling;
  const auto build = [&](size_t number) -> Result<> {
    const Text& text = texts[number];
    const auto origin = store_origin(text.data, text.part);
    if (!origin) return tl::unexpected(of_key(text.key, origin.error()));
    BuildOptions build{options.jobs, options.shards, text.data.skip_limit, {}};
    if (options.progress)
      build.progress = [&](const StoreProgress& progress) {
        const std::scoped_lock one(telling);
        options.progress(text.key, progress);
      };
    const auto built = build_store(*origin, build);
    if (!built) return tl::unexpected(of_key(text.key, built.error()));
    return {};
  };
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < texts.size(); ++i)
      threads.emplace_back([&, i] { outcomes[i] = caught([&] { return build(i); }); });
  }
  for (Result<>& outcome : outcomes)
    if (!outcome) return outcome;
  return {};
}

}  // namespace heddle::data
