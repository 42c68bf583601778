#include "engine/search/budget_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::search {
namespace {

using recipe::RecomputeMode;

struct Tried {
  double budget = 0;
  double bytes = 0;
};

double cut(double number, double step) { return std::floor(number / step) * step; }

Choice with_mode(Choice choice, RecomputeMode mode, double budget = 0) {
  choice.recompute = mode;
  choice.budget = budget;
  return choice;
}

double bytes_of(const plan::Found& found) { return static_cast<double>(found.peak_bytes); }

/// Some layers keep all, with a budget by which the others keep as much as with `best`.
void keep_layers(const Choice& layout, int64_t layers, double limit, const Tried& best,
                 const Tried& full, const Tried& none, const PlanLayout& plan) {
  constexpr double kStep = 0.001;
  const double of_layer = (none.bytes - best.bytes) / static_cast<double>(layers);
  auto kept = std::min(static_cast<int64_t>((limit - best.bytes) / of_layer), layers - 1);
  for (int tries = 2; tries > 0 && kept > 0; --tries, kept = kept * 3 / 4) {
    const double part = static_cast<double>(kept) / static_cast<double>(layers);
    const double least = std::lerp(full.bytes, none.bytes, part);
    const double wanted = best.bytes + static_cast<double>(kept) * of_layer;
    const double budget = std::clamp((wanted - least) / (none.bytes - least), 0.0, 1.0);
    Choice choice = with_mode(layout, RecomputeMode::budget, cut(budget, kStep));
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
    const double budget = std::clamp(cut(std::lerp(low.budget, high.budget, share), kStep),
                                     low.budget + kStep, high.budget - kStep);
    const auto found = plan(with_mode(layout, RecomputeMode::budget, budget));
    if (!found) return;
    (found->fits ? low : high) = {budget, bytes_of(*found)};
  }
  // Each rank of a pipeline has its own layers and its own room.
  if (low.budget > 0 && layout.pp == 1) keep_layers(layout, layers, room, low, full, none, plan);
}

}  // namespace heddle::search
