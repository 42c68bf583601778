#include "engine/search/budget_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::search {
namespace {

using recipe::RecomputeMode;

struct Tried {
  double budget = 0;
  double bytes = 0;
};

/// To hundredths, so that a recipe reads well.
double cut(double number) { return std::floor(number * 100 + 1e-6) / 100; }

Choice with_mode(Choice choice, RecomputeMode mode, double budget = 0) {
  choice.recompute = mode;
  choice.budget = budget;
  return choice;
}

double bytes_of(const plan::Found& found) { return static_cast<double>(found.peak_bytes); }

/// Some layers keep all, and the others about as much as with `best`: the remaining memory is less
/// than the next budget takes.
void keep_layers(const Choice& layout, int64_t layers, double limit, const Tried& best,
                 const Tried& full, const PlanLayout& plan) {
  constexpr double kLess = 0.03;
  // A plan without recomputation that does not fit may be a leaner one than the others.
  const double none = full.bytes + (best.bytes - full.bytes) / best.budget;
  const double of_layer = std::max(none - best.bytes, 1.0) / static_cast<double>(layers);
  const auto most = std::min(static_cast<int64_t>((limit - best.bytes) / of_layer), layers - 1);
  for (const auto& [kept, budget] : {std::pair(most, best.budget),
                                     {most, best.budget - kLess},
                                     {most * 3 / 4, best.budget - kLess},
                                     {most / 2, best.budget - kLess}}) {
    if (kept < 1 || budget <= 0) return;
    Choice choice = with_mode(layout, RecomputeMode::budget, cut(budget));
    recipe::Override& whole = choice.overrides.emplace_back();
    whole.modules = {kept == 1 ? "layers.0" : fmt::format("layers.0-{}", kept - 1)};
    whole.recompute = RecomputeMode::none;
    const auto found = plan(choice);
    if (found && found->fits) return;
  }
}

}  // namespace

void search_budget(const Choice& layout, int64_t layers, int64_t limit, const PlanLayout& plan) {
  constexpr double kStep = 0.01;
  constexpr int64_t kManyLayers = 64;  // whose plans take longer
  const auto without = plan(with_mode(layout, RecomputeMode::none));
  if (!without || without->fits) return;
  const auto all = plan(with_mode(layout, RecomputeMode::full));
  if (!all || !all->fits) return;
  const Tried full{0, bytes_of(*all)}, none{1, bytes_of(*without)};
  const auto room = static_cast<double>(limit);
  Tried low = full, high = none;
  for (int tries = layers > kManyLayers ? 3 : 5;
       tries > 0 && high.budget - low.budget > 1.5 * kStep; --tries) {
    const double share = (room - low.bytes) / std::max(high.bytes - low.bytes, 1.0);
    const double budget = std::clamp(cut(std::lerp(low.budget, high.budget, share)),
                                     low.budget + kStep, high.budget - kStep);
    const auto found = plan(with_mode(layout, RecomputeMode::budget, budget));
    if (!found) return;
    (found->fits ? low : high) = {budget, bytes_of(*found)};
  }
  // Each rank of a pipeline has its own layers and its own room.
  if (low.budget > 0 && layout.pp == 1) keep_layers(layout, layers, room, low, full, plan);
}

}  // namespace heddle::search
