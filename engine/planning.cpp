#include "engine/planning.h"

#include <algorithm>
#include <filesystem>

#include "engine/checkpoint/load_recipe.h"
#include "engine/data/text_loader.h"
#include "engine/train/graph_file.h"
#include "engine/train/predict.h"

namespace heddle::engine {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostCaptured = 6;

/// Whether planning works with the key: the rest may be wrong, or missing as yet.
bool matters(const std::string& key) {
  const auto in = [&](std::string_view section) { return key.starts_with(section); };
  return !in("data.text") && !in("data.token_ids") && !in("data.tokenizer") && !in("validation.") &&
         !in("schedule.") && !in("checkpoint.");
}

int64_t changed(const std::string& file) {
  std::error_code unknown;
  const auto time = fs::last_write_time(file, unknown);
  return unknown ? 0 : time.time_since_epoch().count();
}

}  // namespace

PlanAnswer Planning::answer(const PlanRequest& request, const std::function<bool()>& cancelled) {
  recipe::Parsed parsed =
      checkpoint::load_recipe(request.text, request.file, request.sets, request.ranks);
  std::erase_if(parsed.faults, [](const recipe::Fault& fault) { return !matters(fault.key); });
  if (!parsed.ok()) return std::move(parsed.faults);
  recipe::Recipe& recipe = parsed.recipe;
  // What is held out is read from texts that need not be there.
  recipe.validation.every = 0;
  if (const auto words = vocabulary(recipe)) {
    recipe.model.vocab_size = *words;
  } else {
    recipe::Fault fault{.file = request.file,
                        .key = "data.tokenizer",
                        .what = words.error().message,
                        .valid = "a tokenizer.json, or model.vocab_size",
                        .suggestion = ""};
    if (const auto place = parsed.places.find(fault.key); place != parsed.places.end()) {
      fault.line = place->second.line;
      fault.column = place->second.column;
    }
    return std::vector{std::move(fault)};
  }
  auto document =
      train::predict(recipe, {.hardware = request.hardware,
                              .executor = request.executor,
                              .timeline = request.timeline,
                              .cancelled = cancelled,
                              .capture = [this](const recipe::Recipe& of, train::Work work) {
                                return capture(of, work);
                              }});
  if (!document) return document.error();
  document->recipe = fs::path(request.file).filename().string();
  return std::move(*document);
}

Result<train::Captured> Planning::capture(const recipe::Recipe& recipe, train::Work work) {
  const std::string key = std::to_string(static_cast<int>(work)) + train::captured_from(recipe);
  auto known = std::ranges::find(captured_, key, &Kept::key);
  if (known == captured_.end()) {
    auto captured = train::capture_step(recipe, work);
    if (!captured) return captured;
    captured_.push_front({key, std::move(*captured)});
    if (captured_.size() > kMostCaptured) captured_.pop_back();
    known = captured_.begin();
  }
  return known->captured;
}

Result<int64_t> Planning::vocabulary(const recipe::Recipe& recipe) {
  if (recipe.model.vocab_size > 0) return recipe.model.vocab_size;
  const std::pair key{recipe.data.tokenizer, changed(recipe.data.tokenizer)};
  if (const auto known = vocabulary_.find(key); known != vocabulary_.end()) return known->second;
  auto words = data::vocabulary(recipe.model, recipe.data);
  if (words) vocabulary_[key] = *words;
  return words;
}

}  // namespace heddle::engine
