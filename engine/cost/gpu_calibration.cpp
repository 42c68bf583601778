#include "engine/cost/gpu_calibration.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_number.h"

namespace heddle::cost {
namespace {

using nlohmann::json;

GpuWork work_of(const json& name) {
  const auto found = std::ranges::find(kGpuWorkNames, name.get<std::string>());
  if (found == kGpuWorkNames.end()) refuse_json(name, "is nothing that is measured");
  return static_cast<GpuWork>(found - kGpuWorkNames.begin());
}

}  // namespace

json to_json(const GpuCalibration& calibration) {
  json measurements = json::array(), contention = json::array();
  for (const GpuMeasurement& each : calibration.measurements)
    measurements.push_back({{"what", kGpuWorkNames[static_cast<size_t>(each.what)]},
                            {"name", each.name},
                            {"shape", each.shape},
                            {"work", each.work},
                            {"seconds", each.seconds},
                            {"spread", each.spread}});
  for (const GpuContention& each : calibration.contention)
    contention.push_back({{"ranks", each.ranks},
                          {"bytes", each.bytes},
                          {"gather_alone", each.gather_alone},
                          {"gather_beside", each.gather_beside},
                          {"products_alone", each.products_alone},
                          {"products_beside", each.products_beside}});
  return {{"host", calibration.host},
          {"time", calibration.time},
          {"engine", calibration.engine},
          {"gpu", calibration.gpu},
          {"state", calibration.state},
          {"ranks", calibration.ranks},
          {"gpus", calibration.gpus},
          {"multiprocessors", calibration.multiprocessors},
          {"memory_bytes", calibration.memory_bytes},
          {"context_bytes", calibration.context_bytes},
          {"buffers_bytes", calibration.buffers_bytes},
          {"measurements", std::move(measurements)},
          {"contention", std::move(contention)}};
}

GpuCalibration gpu_calibration_from_json(const json& read) {
  GpuCalibration calibration{.host = read.at("host"),
                             .time = read.at("time"),
                             .engine = read.at("engine"),
                             .gpu = read.at("gpu"),
                             .state = read.at("state"),
                             .ranks = whole<int64_t>(read.at("ranks")),
                             .gpus = whole<int64_t>(read.at("gpus")),
                             .multiprocessors = whole<int64_t>(read.at("multiprocessors")),
                             .memory_bytes = whole<int64_t>(read.at("memory_bytes")),
                             .context_bytes = whole<int64_t>(read.at("context_bytes")),
                             .buffers_bytes = whole<int64_t>(read.at("buffers_bytes")),
                             .measurements = {},
                             .contention = {}};
  for (const json& each : read.at("measurements"))
    calibration.measurements.push_back({work_of(each.at("what")), each.at("name"), each.at("shape"),
                                        each.at("work"), each.at("seconds"), each.at("spread")});
  for (const json& each : read.at("contention"))
    calibration.contention.push_back({whole<int64_t>(each.at("ranks")),
                                      whole<int64_t>(each.at("bytes")), each.at("gather_alone"),
                                      each.at("gather_beside"), each.at("products_alone"),
                                      each.at("products_beside")});
  return calibration;
}

}  // namespace heddle::cost
