#include "engine/planning.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "engine/checkpoint/load_recipe.h"
#include "engine/data/text_loader.h"
#include "engine/published/nearest.h"
#include "engine/shortfall.h"
#include "engine/train/predict.h"
#include "engine/train/speed_now.h"

namespace heddle::engine {
namespace {

namespace fs = std::filesystem;

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

recipe::Fault fault_at(const recipe::Parsed& parsed, const std::string& key, std::string what,
                       std::string valid) {
  recipe::Fault fault{.file = parsed.file,
                      .key = key,
                      .what = std::move(what),
                      .valid = std::move(valid),
                      .suggestion = ""};
  if (const auto place = parsed.places.find(key); place != parsed.places.end()) {
    fault.line = place->second.line;
    fault.column = place->second.column;
  }
  return fault;
}

/// What others have measured of the runs that are most like it.
std::vector<std::string> published_like(const recipe::Recipe& recipe, const std::string& hardware) {
  constexpr size_t kShown = 3;
  static const auto rows = published::read_rows(published::built_in());
  std::vector<std::string> lines;
  if (!rows) return lines;
  for (const published::Row& row : published::nearest(*rows, recipe, hardware, kShown))
    lines.push_back(published::words(row));
  return lines;
}

}  // namespace

std::optional<recipe::Fault> partly_filled_node(const recipe::Parsed& parsed,
                                                int64_t node_devices) {
  const int64_t ranks = parsed.recipe.hardware.ranks;
  if (node_devices == 0 || ranks <= node_devices || ranks % node_devices == 0) return std::nullopt;
  const int64_t below = ranks / node_devices * node_devices;
  return fault_at(parsed, "hardware.ranks",
                  fmt::format("{} ranks do not fill nodes of {} devices: the last has {}", ranks,
                              node_devices, ranks - below),
                  fmt::format("{} or {}", below, below + node_devices));
}

PlanAnswer Planning::answer(const PlanRequest& request, const std::function<bool()>& cancelled) {
  recipe::Parsed parsed = read(request);
  if (!parsed.ok()) return std::move(parsed.faults);
  return planned(request, parsed, cancelled);
}

recipe::Parsed Planning::read(const PlanRequest& request) {
  recipe::Parsed parsed =
      checkpoint::load_recipe(request.text, request.file, request.sets, request.ranks);
  std::erase_if(parsed.faults, [](const recipe::Fault& fault) { return !matters(fault.key); });
  if (!parsed.ok()) return parsed;
  // What is held out is read from texts that need not be there.
  parsed.recipe.validation.every = 0;
  if (const auto words = vocabulary(parsed.recipe)) {
    parsed.recipe.model.vocab_size = *words;
  } else {
    parsed.faults.push_back(fault_at(parsed, "data.tokenizer", words.error().message,
                                     "a tokenizer.json, or model.vocab_size"));
  }
  return parsed;
}

PlanAnswer Planning::planned(const PlanRequest& request, const recipe::Parsed& parsed,
                             const std::function<bool()>& cancelled) {
  const recipe::Recipe& recipe = parsed.recipe;
  const std::string& name = request.hardware.empty() ? recipe.hardware.name : request.hardware;
  if (request.awaits_speed && train::is_this_machine(name)) {
    train::measure_speed();
    train::await_speed();
  }
  const auto machine = train::machine_of(recipe, name, request.executor, request.numbers);
  if (!machine) return machine.error();
  if (auto fault = partly_filled_node(parsed, machine->node_devices))
    return std::vector{std::move(*fault)};
  auto document = train::predict(recipe, *machine,
                                 {.hardware = {},
                                  .executor = request.executor,
                                  .timeline = request.timeline,
                                  .cancelled = cancelled,
                                  .capture = [this](const recipe::Recipe& of, train::Work work) {
                                    return captured_.capture(of, work);
                                  }});
  if (!document) return document.error();
  document->published = published_like(recipe, document->hardware);
  document->recipe = fs::path(request.file).filename().string();
  if (document->fits() || !request.closes) return std::move(*document);
  const Variants variants{.read = [&](const PlanRequest& variant) -> std::optional<recipe::Recipe> {
                            recipe::Parsed other = read(variant);
                            if (cancelled() || !other.ok()) return std::nullopt;
                            return std::move(other.recipe);
                          },
                          .plan = [&](const PlanRequest& variant) -> std::optional<plan::Document> {
                            PlanAnswer other = answer(variant, cancelled);
                            auto* plan = std::get_if<plan::Document>(&other);
                            return plan ? std::optional(std::move(*plan)) : std::nullopt;
                          }};
  document->shortfall = shortfall_of(*document, request, parsed, machine->node_devices, variants);
  if (cancelled()) return Error{train::kCancelled};
  return std::move(*document);
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
