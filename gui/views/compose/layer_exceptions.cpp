#include "gui/views/compose/layer_exceptions.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "engine/recipe/modules.h"

namespace heddle::gui {
namespace {

using recipe::RecomputeMode;
using Modes = std::vector<std::optional<RecomputeMode>>;

/// 3 of "layers.3"; -1: no whole layer.
int layerOf(const std::string& module) {
  constexpr std::string_view kLayers = "layers.";
  if (!module.starts_with(kLayers)) return -1;
  int layer = -1;
  const char* end = module.data() + module.size();
  const auto read = std::from_chars(module.data() + kLayers.size(), end, layer);
  return read.ec == std::errc() && read.ptr == end ? layer : -1;
}

// The picture edits exceptions that set recomputation of whole layers and nothing else.
bool isOfLayers(const recipe::Override& exception) {
  return !exception.lr && !exception.weight_decay &&
         std::ranges::all_of(exception.modules, [](const std::string& name) {
           return std::ranges::all_of(recipe::expand_range(name), [](const std::string& module) {
             return layerOf(module) >= 0;
           });
         });
}

Modes modesOf(const recipe::Recipe& recipe) {
  Modes modes(static_cast<size_t>(std::max<int64_t>(0, recipe.model.n_layers)));
  for (const recipe::Override& each : recipe.overrides) {
    if (!isOfLayers(each)) continue;
    for (const std::string& name : each.modules)
      for (const std::string& module : recipe::expand_range(name)) {
        const auto layer = static_cast<size_t>(layerOf(module));
        // The first that names a layer counts.
        if (layer < modes.size() && !modes[layer]) modes[layer] = each.recompute;
      }
  }
  return modes;
}

QList<LayerException> runsOf(const Modes& modes) {
  QList<LayerException> runs;
  for (size_t i = 0; i < modes.size(); ++i) {
    if (!modes[i]) continue;
    const int layer = static_cast<int>(i);
    if (!runs.isEmpty() && runs.last().last == layer - 1 && runs.last().mode == *modes[i]) {
      runs.last().last = layer;
    } else {
      runs.append({layer, layer, *modes[i]});
    }
  }
  return runs;
}

}  // namespace

QList<LayerException> layerExceptions(const recipe::Recipe& recipe) {
  return runsOf(modesOf(recipe));
}

std::vector<recipe::Override> withLayers(const recipe::Recipe& recipe, int first, int last,
                                         std::optional<RecomputeMode> mode) {
  Modes modes = modesOf(recipe);
  if (mode == recipe.recompute.mode) mode.reset();
  for (int layer = std::max(0, first); layer <= last && layer < static_cast<int>(modes.size());
       ++layer)
    modes[static_cast<size_t>(layer)] = mode;
  std::vector<recipe::Override> all;
  for (const recipe::Override& each : recipe.overrides)
    if (!isOfLayers(each)) all.push_back(each);
  for (const LayerException& run : runsOf(modes)) {
    std::string name = "layers." + std::to_string(run.first);
    if (run.last > run.first) name += "-" + std::to_string(run.last);
    all.push_back({{name}, run.mode, {}, {}});
  }
  return all;
}

QString wordOf(RecomputeMode mode) {
  switch (mode) {
    case RecomputeMode::none:
      return QStringLiteral("none");
    case RecomputeMode::full:
      return QStringLiteral("full");
    case RecomputeMode::selective:
      return QStringLiteral("selective");
    case RecomputeMode::budget:
      return QStringLiteral("budget");
  }
  return {};
}

}  // namespace heddle::gui
