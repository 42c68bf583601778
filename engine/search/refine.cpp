#include "engine/search/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/recipe/stages.h"
#include "engine/search/layer_choice.h"

namespace heddle::search {
namespace {

using recipe::RecomputeMode;

constexpr std::array kModes = {RecomputeMode::none, RecomputeMode::selective, RecomputeMode::full};

/// Neighbours of one mode as "layers.3-7".
std::vector<recipe::Override> overrides_of(const std::vector<RecomputeMode>& modes,
                                           RecomputeMode usual) {
  std::vector<recipe::Override> overrides;
  for (const RecomputeMode mode : kModes) {
    recipe::Override each;
    each.recompute = mode;
    for (size_t i = 0; i < modes.size(); ++i) {
      if (mode == usual || modes[i] != mode) continue;
      size_t end = i;
      while (end + 1 < modes.size() && modes[end + 1] == mode) ++end;
      each.modules.push_back(end == i ? fmt::format("layers.{}", i)
                                      : fmt::format("layers.{}-{}", i, end));
      i = end;
    }
    if (!each.modules.empty()) overrides.push_back(std::move(each));
  }
  return overrides;
}

}  // namespace

std::optional<Choice> mixed_recomputation(const Question& question, const Choice& planned,
                                          const std::vector<int64_t>& stage_bytes, int64_t limit,
                                          double share, Estimator& estimator) {
  // The first exception that names a layer counts: leave a recipe with its own exceptions alone.
  if (limit == 0 || !question.recipe.overrides.empty() || question.fixed.contains("override") ||
      question.fixed.contains("recompute.mode"))
    return std::nullopt;
  std::array<const Profile*, kModes.size()> profiles{};
  for (size_t w = 0; w < kModes.size(); ++w) {
    Choice other = planned;
    other.recompute = kModes[w];
    const auto profile = estimator.profile(other);
    if (!profile) return std::nullopt;
    profiles[w] = *profile;
  }
  const auto own =
      static_cast<size_t>(std::ranges::find(kModes, planned.recompute) - kModes.begin());
  if (own == kModes.size()) return std::nullopt;

  const std::vector<int64_t> stages = recipe::layers_of_stages(with(question.recipe, planned));
  std::vector<RecomputeMode> modes(static_cast<size_t>(question.recipe.model.n_layers),
                                   planned.recompute);
  for (size_t rank = 0; rank < stage_bytes.size(); ++rank) {
    std::vector<size_t> layers;  // of the rank
    for (size_t stage = 0, first = 0; stage < stages.size(); ++stage) {
      for (int64_t i = 0; i < stages[stage]; ++i, ++first)
        if (stage % stage_bytes.size() == rank) layers.push_back(first);
    }
    const int64_t times = under_way(planned, static_cast<int64_t>(rank));
    std::vector<LayerWay> ways;
    for (const Profile* profile : profiles)
      ways.push_back({profile->layer.both(), profile->kept_bytes * times});
    const int64_t left =
        static_cast<int64_t>(share * static_cast<double>(limit - stage_bytes[rank])) -
        std::max<int64_t>(profiles.front()->working_bytes - profiles[own]->working_bytes, 0);
    const int64_t kept = ways[own].bytes * static_cast<int64_t>(layers.size());
    auto chosen = choose_ways(std::vector(layers.size(), ways), left + kept);
    if (!chosen) continue;
    std::ranges::sort(*chosen);  // layers are alike: neighbours in one way are fewer exceptions
    for (size_t i = 0; i < layers.size(); ++i) modes[layers[i]] = kModes[(*chosen)[i]];
  }
  // The most frequent mode becomes the recipe's, the others its exceptions.
  Choice mixed = planned;
  mixed.recompute = *std::ranges::max_element(
      kModes, {}, [&](RecomputeMode mode) { return std::ranges::count(modes, mode); });
  mixed.overrides = overrides_of(modes, mixed.recompute);
  if (mixed == planned) return std::nullopt;
  return mixed;
}

}  // namespace heddle::search
