#include "engine/predict/gpu_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/host_name.h"
#include "engine/cost/catalogue_rates.h"
#include "engine/cost/gpu_calibration.h"
#include "engine/hardware/catalogue.h"
#include "engine/predict/refined.h"

namespace heddle::predict {
namespace {

std::optional<hardware::Entry> entry_of(const std::string& gpu, const std::string& measured) {
  const hardware::Catalogue catalogue = hardware::load_catalogue();
  if (catalogue.nodes.contains(measured)) return catalogue.find(measured).value();
  const hardware::Device* device = gpu.empty() ? nullptr : catalogue.of_driver(gpu);
  const auto node = std::ranges::find_if(catalogue.nodes, [&](const auto& each) {
    return device && each.second.device == device->name;
  });
  if (node == catalogue.nodes.end()) return std::nullopt;
  const auto entry = catalogue.find(node->first);
  return entry ? std::optional(*entry) : std::nullopt;
}

}  // namespace

cost::Float8 float8_of(recipe::Float8 float8) {
  switch (float8) {
    case recipe::Float8::none:
      return cost::Float8::none;
    case recipe::Float8::tensorwise:
      return cost::Float8::tensorwise;
    case recipe::Float8::rowwise:
      return cost::Float8::rowwise;
  }
  return cost::Float8::none;
}

cost::Rates rates_of_gpus(const recipe::Recipe& recipe, const recipe::Layout& layout,
                          const std::string& gpu, int64_t ranks_of_host,
                          const cost::GroupKinds& groups) {
  const std::string measured = cost::measured_name(host_name());
  const auto entry = recipe.transport.gpus == "host" ? std::nullopt : entry_of(gpu, measured);
  if (!entry) return cost::gpu_rates(groups);
  cost::Rates rates = cost::catalogue_rates(*entry, cost::placements(layout, ranks_of_host),
                                            {.float8 = float8_of(recipe.precision.float8)});
  if (entry->name != measured)
    rates.remarks.push_back(
        fmt::format("GPUs count as the catalogue's {}; heddle-engine calibrate --device cuda "
                    "measures them",
                    entry->name));
  rates.refinement = refinement_at(place_here("cuda", ranks_of_host, rates.threads));
  return rates;
}

}  // namespace heddle::predict
