// All texts that a recipe reads, and their token stores.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/data/store_builder.h"
#include "engine/recipe/recipe.h"

namespace heddle::data {

/// Texts that become one store.
struct Text {
  std::string key;    // of the recipe: "data.text"
  recipe::Data data;  // its `text` alone; no `mix`
  Part part = Part::training;
  double weight = 1;  // share of the samples
};

/// The training text: `data.text`, or each part of `data.mix`; nothing where token ids are fed.
std::vector<Text> training_texts(const recipe::Data& data);

/// The validation text: texts of its own, or what data.held_out keeps from training.
Text validation_text(const recipe::Recipe& recipe);

/// Both, as far as the recipe asks for them.
std::vector<Text> texts_of(const recipe::Recipe& recipe);

/// Moves the fault of a text that was read as data.text to the right key.
Error of_key(const std::string& key, const Error& error);

/// Whether all of a recipe's stores are whole: nothing is left to be tokenized.
Result<bool> is_tokenized(const recipe::Recipe& recipe);

struct CorpusOptions {
  int jobs = 0;                                          // threads; 0: as many as cores
  int64_t shards = std::numeric_limits<int64_t>::max();  // of each store, then it ends
  /// Progress of one of the texts, about once a second. One thread at a time.
  std::function<void(const std::string& key, const StoreProgress&)> progress = {};
};

/// Builds the recipe's stores, side by side (build_store).
Result<> tokenize_corpus(const recipe::Recipe& recipe, const CorpusOptions& options);

}  // namespace heddle::data
