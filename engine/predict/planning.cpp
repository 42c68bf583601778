#include "engine/predict/planning.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "engine/checkpoint/load_recipe.h"
#include "engine/cost/executor.h"
#include "engine/data/text_loader.h"
#include "engine/hardware/nodes_in_use.h"
#include "engine/predict/predict.h"
#include "engine/predict/shortfall.h"
#include "engine/predict/speed_now.h"
#include "engine/published/nearest.h"
#include "engine/recipe/fault_lines.h"

namespace heddle::predict {
namespace {

namespace fs = std::filesystem;

/// Stand-ins for data that a recipe does not name yet: planning reads none.
std::vector<std::string> stand_ins(const recipe::Data& data) {
  std::vector<std::string> sets;
  const bool named = !data.text.empty() || !data.mix.empty() || !data.token_ids.empty();
  if (!named) sets.emplace_back("data.text=[\"any\"]");
  if (data.tokenizer.empty() && data.token_ids.empty()) sets.emplace_back("data.tokenizer=\"any\"");
  return sets;
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

/// Adds what others have measured of the runs that are most like it.
void add_published(plan::Document& plan, const recipe::Recipe& recipe) {
  constexpr size_t kShown = 3;
  static const auto rows = published::read_rows(published::built_in());
  if (!rows) return;
  for (const published::Row& row : published::nearest(*rows, recipe, plan.hardware, kShown))
    plan.published.push_back(published::words(row));
  if (std::string far =
          published::far_above(*rows, recipe, plan.hardware, plan.tokens_per_second_per_rank);
      !far.empty())
    plan.remarks.insert(plan.remarks.begin(), std::move(far));
}

}  // namespace

std::optional<recipe::Fault> partly_filled_node(const recipe::Parsed& parsed,
                                                const Machine& machine) {
  const int64_t ranks = parsed.recipe.hardware.ranks;
  if (machine.node_devices == 0 || hardware::devices_in_use(machine.node, ranks))
    return std::nullopt;
  const std::vector<int64_t> near = hardware::nearest_usable(machine.node, ranks);
  return fault_at(parsed, "hardware.ranks",
                  fmt::format("{} ranks do not fill nodes of {} devices: the last has {}", ranks,
                              machine.node_devices, ranks % machine.node_devices),
                  fmt::format("{}", fmt::join(near, " or ")));
}

PlanAnswer Planning::answer(const plan::PlanQuestion& question,
                            const std::function<bool()>& cancelled) {
  recipe::Parsed parsed = read(question);
  if (!parsed.ok()) return std::move(parsed.faults);
  return planned(question, parsed, cancelled);
}

recipe::Parsed Planning::read(const plan::PlanQuestion& question) {
  const recipe::Data data = recipe::parse(question.text, question.file, question.sets).recipe.data;
  std::vector<std::string> sets = question.sets;
  std::ranges::move(stand_ins(data), std::back_inserter(sets));
  recipe::Parsed parsed =
      checkpoint::load_recipe(question.text, question.file, sets, question.ranks);
  if (parsed.ok() && question.executor == cost::kExecutorNames.front())
    parsed.faults = recipe::unsupported(parsed);
  if (!parsed.ok()) return parsed;
  recipe::Recipe& recipe = parsed.recipe;
  // Held-out text is read from files that need not be there.
  recipe.validation.every = 0;
  recipe::Recipe named = recipe;
  if (data.tokenizer.empty()) named.data.tokenizer.clear();
  if (const auto words = vocabulary(named))
    recipe.model.vocab_size = *words;
  else if (data.tokenizer.empty())
    parsed.faults.push_back(fault_at(parsed, "model.vocab_size",
                                     "0 takes the tokenizer's, and data.tokenizer names none",
                                     "1 or more, or a tokenizer.json in data.tokenizer"));
  else
    parsed.faults.push_back(recipe::fault_of(parsed, words.error().message));
  return parsed;
}

PlanAnswer Planning::planned(const plan::PlanQuestion& question, const recipe::Parsed& parsed,
                             const std::function<bool()>& cancelled) {
  const recipe::Recipe& recipe = parsed.recipe;
  const std::string& name = question.hardware.empty() ? recipe.hardware.name : question.hardware;
  if (awaits_speed_ && is_this_machine(name)) {
    measure_speed();
    await_speed();
  }
  const auto machine = machine_of(recipe, name, question.executor, question.numbers);
  if (!machine) return machine.error();
  if (auto fault = partly_filled_node(parsed, *machine)) return std::vector{std::move(*fault)};
  auto document = predict(recipe, *machine,
                          {.hardware = {},
                           .executor = question.executor,
                           .timeline = question.timeline,
                           .cancelled = cancelled,
                           .capture = [this](const recipe::Recipe& of, step::Work work) {
                             return captured_.capture(of, work);
                           }});
  if (!document) return document.error();
  add_published(*document, recipe);
  document->recipe = fs::path(question.file).filename().string();
  if (document->fits() || !question.closes) return std::move(*document);
  const Variants variants{
      .read = [&](const plan::PlanQuestion& variant) -> std::optional<recipe::Recipe> {
        recipe::Parsed other = read(variant);
        if (cancelled() || !other.ok()) return std::nullopt;
        return std::move(other.recipe);
      },
      .plan = [&](const plan::PlanQuestion& variant) -> std::optional<plan::Document> {
        PlanAnswer other = answer(variant, cancelled);
        auto* plan = std::get_if<plan::Document>(&other);
        return plan ? std::optional(std::move(*plan)) : std::nullopt;
      }};
  document->shortfall = shortfall_of(*document, question, parsed, machine->node_devices, variants);
  if (cancelled()) return Error{kCancelled};
  return std::move(*document);
}

/// The model's rows, or the tokenizer's; where both are there they must fit each other.
Result<int64_t> Planning::vocabulary(const recipe::Recipe& recipe) {
  const std::string& tokenizer = recipe.data.tokenizer;
  std::error_code unknown;
  const int64_t rows = recipe.model.vocab_size;
  if (rows > 0 && !fs::exists(tokenizer, unknown)) return rows;
  const std::tuple key{tokenizer, changed(tokenizer), rows};
  if (const auto known = vocabulary_.find(key); known != vocabulary_.end()) return known->second;
  auto words = data::vocabulary(recipe.model, recipe.data);
  if (words) vocabulary_[key] = *words;
  return words;
}

}  // namespace heddle::predict
