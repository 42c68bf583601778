#include "engine/cost/calibration.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/json_number.h"
#include "base/json_text.h"
#include "base/read_json.h"

namespace heddle::cost {
namespace {

using nlohmann::json;

constexpr int kVersion = 5;
constexpr std::array kFurtherTimes = {
    std::pair("activations", &Link::activations), std::pair("all_reduce", &Link::all_reduce),
    std::pair("all_to_all", &Link::all_to_all), std::pair("to_neighbour", &Link::to_neighbour)};

json to_json(const Curve& curve) {
  json points = json::array();
  for (const CurvePoint& point : curve) points.push_back({point.bytes, point.seconds});
  return points;
}

Curve curve_from_json(const json& points) {
  Curve curve;
  for (const json& point : points) curve.push_back({whole<int64_t>(point.at(0)), point.at(1)});
  return curve;
}

json to_json(const CollectiveTimes& times) {
  return {{"alone", to_json(times.alone)},
          {"beside_compute", to_json(times.beside_compute)},
          {"lost", to_json(times.lost)}};
}

CollectiveTimes times_from_json(const json& read) {
  return {curve_from_json(read.at("alone")), curve_from_json(read.at("beside_compute")),
          curve_from_json(read.at("lost"))};
}

}  // namespace

double at_bytes(const Curve& curve, int64_t bytes) {
  if (curve.empty()) return 0.0;
  const auto size = static_cast<double>(bytes);
  const auto above = std::lower_bound(
      curve.begin(), curve.end(), bytes,
      [](const CurvePoint& point, int64_t wanted) { return point.bytes < wanted; });
  if (above == curve.begin()) return above->seconds;
  const CurvePoint& low = *std::prev(above);
  if (above == curve.end()) return low.seconds * size / static_cast<double>(low.bytes);
  const double share =
      (size - static_cast<double>(low.bytes)) / static_cast<double>(above->bytes - low.bytes);
  return low.seconds + share * (above->seconds - low.seconds);
}

json to_json(const Link& link) {
  json written = {{"transport", link.transport},
                  {"ranks", link.ranks},
                  {"estimated", link.estimated},
                  {"all_gather", to_json(link.all_gather)},
                  {"reduce_scatter", to_json(link.reduce_scatter)}};
  for (const auto& [name, member] : kFurtherTimes)
    if (!(link.*member).alone.empty()) written[name] = to_json(link.*member);
  if (link.wire == Wire::network) written["network"] = true;
  return written;
}

Link link_from_json(const json& read) {
  Link link{.transport = read.at("transport"),
            .ranks = read.at("ranks"),
            .all_gather = times_from_json(read.at("all_gather")),
            .reduce_scatter = times_from_json(read.at("reduce_scatter")),
            .estimated = read.at("estimated"),
            .wire = read.value("network", false) ? Wire::network : Wire::node};
  for (const auto& [name, member] : kFurtherTimes)
    if (read.contains(name)) link.*member = times_from_json(read.at(name));
  return link;
}

json to_json(const OperatorRate& rate) {
  return {{"op", rate.op},
          {"dtype", rate.dtype},
          {"shape", rate.shape},
          {"per_second", rate.per_second}};
}

OperatorRate rate_from_json(const json& read) {
  return {read.at("op"), read.at("dtype"), read.at("shape"), read.at("per_second")};
}

json to_json(const Calibration& calibration) {
  json operators = json::array(), links = json::array();
  for (const OperatorRate& rate : calibration.operators) operators.push_back(to_json(rate));
  for (const Link& link : calibration.links) links.push_back(to_json(link));
  return {{"host", calibration.host},
          {"ranks", calibration.ranks},
          {"threads", calibration.threads},
          {"cores", calibration.cores},
          {"time", calibration.time},
          {"engine", calibration.engine},
          {"flops_per_second", calibration.speed.flops_per_second},
          {"bytes_per_second", calibration.speed.bytes_per_second},
          {"others", calibration.speed.others},
          {"left_out", calibration.left_out},
          {"process_bytes", calibration.process_bytes},
          {"links", std::move(links)},
          {"operators", std::move(operators)}};
}

Calibration calibration_from_json(const json& read) {
  Calibration calibration{
      .host = read.at("host"),
      .ranks = read.at("ranks"),
      .threads = read.at("threads"),
      .cores = read.at("cores"),
      .time = read.at("time"),
      .engine = read.at("engine"),
      .speed = {read.at("flops_per_second"), read.at("bytes_per_second"),
                read.value("others", 0.0)},
      .process_bytes = read.at("process_bytes"),
      .links = {},
      .operators = {},
      .left_out = read.value("left_out", std::vector<std::string>{}),
  };
  for (const json& link : read.at("links")) calibration.links.push_back(link_from_json(link));
  for (const json& rate : read.at("operators"))
    calibration.operators.push_back(rate_from_json(rate));
  return calibration;
}

std::string calibration_file() {
  const char* cache = getenv("XDG_CACHE_HOME");
  const char* home = getenv("HOME");
  const std::string folder = cache && *cache ? cache : std::string(home ? home : "") + "/.cache";
  return folder + "/heddle/calibration.json";
}

Result<std::vector<Calibration>> read_calibrations(const std::string& path) {
  std::vector<Calibration> all;
  if (!std::filesystem::exists(path)) return all;
  const Result<json> read = read_json_file(path);
  if (!read) return fail("{}; run heddle-engine calibrate", read.error().message);
  try {
    if (const int version = whole<int>(read->at("version")); version != kVersion)
      return fail("{}: version {}, and this engine reads {}; run heddle-engine calibrate", path,
                  version, kVersion);
    for (const json& each : read->at("calibrations")) all.push_back(calibration_from_json(each));
    return all;
  } catch (const json::exception& error) {
    return fail("{}: damaged ({}); run heddle-engine calibrate", path, error.what());
  }
}

Result<> keep_calibration(const std::string& path, const Calibration& calibration) {
  std::vector<Calibration> all = read_calibrations(path).value_or(std::vector<Calibration>{});
  std::erase_if(all, [&](const Calibration& old) {
    return old.host == calibration.host && old.ranks == calibration.ranks &&
           old.threads == calibration.threads;
  });
  all.push_back(calibration);
  json entries = json::array();
  for (const Calibration& each : all) entries.push_back(to_json(each));
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return fail("{}: {}", path, error.message());
  return write_atomically(
      path, json_text(json{{"version", kVersion}, {"calibrations", std::move(entries)}}) + "\n");
}

}  // namespace heddle::cost
