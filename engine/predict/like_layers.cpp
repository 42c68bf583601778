#include "engine/predict/like_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "engine/recipe/modules.h"

namespace heddle::predict {
namespace {

constexpr std::string_view kLayer = "layers.";

int64_t first_layer(const std::vector<int64_t>& layers, int64_t stage) {
  return std::accumulate(layers.begin(), layers.begin() + stage, int64_t{0});
}

}  // namespace

std::string planning_key(const recipe::Layout& layout, const passes::PlanOptions& options,
                         int64_t pipeline_rank) {
  const std::vector<int64_t>& layers = layout.stage_layers();
  const int64_t pp = layout.mesh().size(recipe::kPp);
  std::string text;
  for (int64_t stage = pipeline_rank; stage < layout.stages(); stage += pp) {
    const int64_t first = first_layer(layers, stage);
    text += fmt::format("stage{}{}:", stage == 0 ? " first" : "",
                        stage + 1 == layout.stages() ? " last" : "");
    for (int64_t i = 0; i < layers[static_cast<size_t>(stage)]; ++i)
      text += fmt::format(" {}",
                          static_cast<int>(options.recompute.mode(recipe::layer_name(first + i))));
    text += '\n';
  }
  const auto is_of_rank = [&](int64_t stage) { return stage >= 0 && stage % pp == pipeline_rank; };
  const auto add_module = [&](const std::string& module) {
    const auto layer = recipe::layer_of(module);
    const int64_t stage = layout.stage_of(module);
    if (layer && is_of_rank(stage))
      text += fmt::format(" {}/{}.{}", stage / pp, *layer - first_layer(layers, stage),
                          recipe::in_layers(module)->rest);
    else
      text += ' ' + module;
  };
  for (const passes::Bucket& bucket : options.buckets) {
    const std::vector<std::string>& modules = bucket.modules;
    if (std::none_of(modules.begin(), modules.end(), [&](const std::string& module) {
          return is_of_rank(layout.stage_of(module));
        }))
      continue;
    text += "bucket";
    std::for_each(modules.begin(), modules.end(), add_module);
    text += '\n';
  }
  return text;
}

LikeLayers::LikeLayers(const std::vector<int64_t>& layers, int64_t pp, int64_t from, int64_t to) {
  for (; std::max(from, to) < static_cast<int64_t>(layers.size()); from += pp, to += pp)
    for (int64_t i = 0; i < layers[static_cast<size_t>(from)]; ++i)
      to_[first_layer(layers, from) + i] = first_layer(layers, to) + i;
}

std::string LikeLayers::renamed(std::string_view text) const {
  std::string renamed;
  const auto rename_number = [&] {
    int64_t layer = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), layer);
    if (error != std::errc()) return false;
    const auto found = to_.find(layer);
    renamed += std::to_string(found == to_.end() ? layer : found->second);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
  };
  for (size_t at = text.find(kLayer); at != std::string_view::npos; at = text.find(kLayer)) {
    at += kLayer.size();
    renamed += text.substr(0, at);
    text.remove_prefix(at);
    if (!rename_number() || !text.starts_with('-')) continue;
    renamed += '-';
    text.remove_prefix(1);
    rename_number();
  }
  return renamed += text;
}

}  // namespace heddle::predict
