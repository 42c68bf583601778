#include "engine/train/like_layers.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace heddle::train {
namespace {

constexpr std::string_view kLayer = "layers.";

}  // namespace

LikeLayers::LikeLayers(const std::vector<int64_t>& layers, int64_t pp, int64_t from, int64_t to) {
  const auto first = [&](int64_t stage) {
    return std::accumulate(layers.begin(), layers.begin() + stage, int64_t{0});
  };
  for (; std::max(from, to) < static_cast<int64_t>(layers.size()); from += pp, to += pp)
    for (int64_t i = 0; i < layers[static_cast<size_t>(from)]; ++i)
      to_[first(from) + i] = first(to) + i;
}

std::string LikeLayers::renamed(std::string_view text) const {
  std::string renamed;
  for (size_t at = text.find(kLayer); at != std::string_view::npos; at = text.find(kLayer)) {
    at += kLayer.size();
    renamed += text.substr(0, at);
    text.remove_prefix(at);
    int64_t layer = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), layer);
    const auto found = to_.find(layer);
    if (error != std::errc() || found == to_.end()) continue;
    renamed += std::to_string(found->second);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return renamed += text;
}

}  // namespace heddle::train
