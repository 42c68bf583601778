#include "engine/recipe/buckets.h"

#include <unordered_map>

namespace heddle::recipe {
namespace {

// "layers.3"; empty for what is in no layer.
std::string layer_with(const std::string& module) {
  const auto layer = layer_of(module);
  return layer ? layer_name(*layer) : "";
}

Bucket single(Parameter parameter) {
  Bucket bucket{{parameter.module}, {parameter.module}, {}};
  bucket.parameters.push_back(std::move(parameter));
  return bucket;
}

// One bucket a layer, and one for everything between layers.
std::vector<Bucket> by_layer(std::vector<Parameter> reads) {
  std::vector<Bucket> buckets;
  std::string before;
  for (Parameter& parameter : reads) {
    const std::string layer = layer_with(parameter.module);
    if (buckets.empty() || layer != before) buckets.push_back({});
    Bucket& bucket = buckets.back();
    const std::string& name = layer.empty() ? parameter.module : layer;
    if (bucket.names.empty() || bucket.names.back() != name) bucket.names.push_back(name);
    bucket.parameters.push_back(std::move(parameter));
    before = layer;
  }
  for (Bucket& bucket : buckets) bucket.modules = bucket.names;
  return buckets;
}

std::vector<Bucket> by_hand(const Wrapping& wrapping, std::vector<Parameter> reads) {
  std::vector<Bucket> buckets;
  std::unordered_map<std::string, size_t> bucket_of;
  for (const auto& names : wrapping.buckets) {
    Bucket bucket{names, {}, {}};
    for (const std::string& name : names)
      for (std::string& module : expand_range(name)) {
        bucket_of.emplace(module, buckets.size());
        bucket.modules.push_back(std::move(module));
      }
    buckets.push_back(std::move(bucket));
  }
  for (Parameter& parameter : reads) {
    std::string name = parameter.module;
    while (!name.empty() && !bucket_of.contains(name)) {
      const size_t dot = name.rfind('.');
      name.resize(dot == std::string::npos ? 0 : dot);
    }
    if (name.empty()) {
      buckets.push_back(single(std::move(parameter)));
    } else {
      buckets[bucket_of[name]].parameters.push_back(std::move(parameter));
    }
  }
  return buckets;
}

}  // namespace

std::vector<Bucket> buckets_of(const Recipe& recipe) {
  std::vector<Parameter> all = reads(recipe.model);
  switch (recipe.wrapping.mode) {
    case WrappingMode::manual:
      return by_hand(recipe.wrapping, std::move(all));
    case WrappingMode::none: {
      std::vector<Bucket> buckets;
      for (Parameter& parameter : all) buckets.push_back(single(std::move(parameter)));
      return buckets;
    }
    case WrappingMode::automatic:
    case WrappingMode::layers:
      break;
  }
  return by_layer(std::move(all));
}

}  // namespace heddle::recipe
