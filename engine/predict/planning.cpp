#include "engine/predict/planning.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "engine/hardware/nodes_in_use.h"
#include "engine/predict/predict.h"
#include "engine/predict/shortfall.h"
#include "engine/predict/speed_now.h"
#include "engine/published/nearest.h"
#include "engine/recipe/fault_lines.h"

namespace heddle::predict {
namespace {

namespace fs = std::filesystem;

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
  return recipe::fault_at(parsed, "hardware.ranks",
                          fmt::format("{} ranks do not fill nodes of {} devices: the last has {}",
                                      ranks, machine.node_devices, ranks % machine.node_devices),
                          fmt::format("{}", fmt::join(near, " or ")));
}

plan::PlanAnswer Planning::answer(const plan::PlanQuestion& question,
                                  const std::function<bool()>& cancelled) {
  recipe::Parsed parsed = recipes_.read(question);
  if (!parsed.ok()) return std::move(parsed.faults);
  return planned(question, parsed, cancelled);
}

plan::PlanAnswer Planning::planned(const plan::PlanQuestion& question, const recipe::Parsed& parsed,
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
  auto document =
      predict(recipe, *machine,
              {.hardware = {},
               .executor = question.executor,
               .timeline = question.timeline,
               .cancelled = cancelled,
               .capture = [this](const recipe::Recipe& of,
                                 step::Work work) { return captured_.capture(of, work); },
               .budgets = &budgets_});
  if (!document) return document.error();
  add_published(*document, recipe);
  document->recipe = fs::path(question.file).filename().string();
  if (document->fits() || !question.closes) return std::move(*document);
  const Variants variants{
      .read = [&](const plan::PlanQuestion& variant) -> std::optional<recipe::Recipe> {
        recipe::Parsed other = recipes_.read(variant);
        if (cancelled() || !other.ok()) return std::nullopt;
        return std::move(other.recipe);
      },
      .plan = [&](const plan::PlanQuestion& variant) -> std::optional<plan::Document> {
        plan::PlanAnswer other = answer(variant, cancelled);
        auto* plan = std::get_if<plan::Document>(&other);
        return plan ? std::optional(std::move(*plan)) : std::nullopt;
      }};
  document->shortfall = shortfall_of(*document, question, parsed, machine->node_devices, variants);
  if (cancelled()) return Error{kCancelled};
  return std::move(*document);
}

}  // namespace heddle::predict
