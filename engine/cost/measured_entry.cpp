// From what was measured of GPUs to an entry of the catalogue.
#include <fmt/chrono.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ctime>
#include <iterator>
#include <map>
#include <optional>

#include "engine/cost/device_rates.h"
#include "engine/cost/gpu_calibration.h"
#include "engine/cost/prefixes.h"
#include "engine/hardware/contradictions.h"
#include "engine/hardware/fields.h"

namespace heddle::cost {
namespace {

using hardware::Device;
using hardware::LinkRate;
using hardware::Number;

struct MeasuredSpread {
  double median = 0, share = 0;  // between the quartiles, of the median
};

MeasuredSpread measured_spread(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double part) {
    return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
  };
  return {at(0.5), (at(0.75) - at(0.25)) / at(0.5)};
}

struct MeasuredLine {
  double latency = 0, rate = 0, spread = 0;  // seconds, bytes a second; of what is left over
};

// Small messages travel by protocols of their own, which start sooner: the catalogue has those.
constexpr int64_t kSimpleBytes = 1 << 20;

// Least squares of the relative errors; nothing where no line rises through the points.
std::optional<MeasuredLine> line_through(const std::vector<const GpuMeasurement*>& points) {
  double ones = 0, sizes = 0, squares = 0, right = 0, right_sizes = 0;
  for (const GpuMeasurement* point : points) {
    const double size = point->work / point->seconds, one = 1 / point->seconds;
    ones += one * one;
    sizes += one * size;
    squares += size * size;
    right += one;
    right_sizes += size;
  }
  const double determinant = ones * squares - sizes * sizes;
  if (points.size() < 2 || determinant <= 0) return std::nullopt;
  MeasuredLine line{.latency = (right * squares - right_sizes * sizes) / determinant};
  const double per_byte = (right_sizes * ones - right * sizes) / determinant;
  if (per_byte <= 0) return std::nullopt;
  line.rate = 1 / per_byte;
  line.latency = std::max(line.latency, hardware::kMinLatencyUs * kMicro);
  for (const GpuMeasurement* point : points)
    line.spread = std::max(line.spread,
                           std::abs((line.latency + point->work / line.rate) / point->seconds - 1));
  return line;
}

class Entry {
 public:
  Entry(const GpuCalibration& calibration, const Device& device, const hardware::Node& node)
      : calibration_(calibration), device_(device), node_(node) {
    source_ = fmt::format("heddle-engine calibrate on {}, {:%Y-%m-%d}", plain(calibration.host),
                          fmt::gmtime(static_cast<std::time_t>(calibration.time)));
  }

  MeasuredEntry take() {
    number("multiprocessors", static_cast<double>(calibration_.multiprocessors));
    number("context_gib", static_cast<double>(calibration_.context_bytes) / kGiB);
    number("memory_gib", static_cast<double>(calibration_.memory_bytes) / kGiB);
    launches();
    products("bf16_best_tflops", GpuWork::product);
    products("fp8_best_tflops", GpuWork::float8_product);
    sustained();
    rates("attention_forward_tflops", GpuWork::attention, kTera);
    rates("attention_backward_tflops", GpuWork::attention_backward, kTera);
    rates("memory_reach", GpuWork::one_pass, device_.memory_gb_per_s.value * kGiga);
    contention();
    return {name_, text(), std::move(remarks_)};
  }

 private:
  std::vector<const GpuMeasurement*> all_of(GpuWork what) const {
    std::vector<const GpuMeasurement*> found;
    for (const GpuMeasurement& each : calibration_.measurements)
      if (each.what == what && each.seconds > 0) found.push_back(&each);
    return found;
  }

  // Where nothing else that is known of the device speaks against it.
  void number(const std::string& key, double value, double spread = 0) {
    const auto& fields = hardware::numbers(&device_);
    const auto field = std::ranges::find(fields, key, [](const auto& each) { return each.key; });
    Number& member = device_.*field->member;
    if (!member.known()) return;
    if (!(value >= field->least && value <= field->most))
      return remark(fmt::format("{}: {:.3g} was measured, beyond {:g} to {:g} ({})", key, value,
                                field->least, field->most, field->unit));
    const Number before = member;
    member = {value, hardware::Origin::measured, source_};
    const auto against = hardware::contradictions(device_);
    if (against.empty()) {
      kept_[key] = spread;
      return;
    }
    member = before;
    remark(fmt::format("{}: {:.3g} was measured, and cannot be: {}: {}", key, value,
                       against.front().key, against.front().what));
  }

  void remark(std::string words) { remarks_.push_back(std::move(words)); }

  void launches() {
    for (const auto& [key, what] : {std::pair("graph_launch_us", GpuWork::graph_launch),
                                    {"framework_launch_us", GpuWork::launch}})
      for (const GpuMeasurement* each : all_of(what))
        number(key, each->seconds / kMicro, each->spread);
  }

  // The rate with which the model takes as long.
  double product_rate(const GpuMeasurement& product) const {
    const DeviceRates rates = device_rates(device_, Executor::heddle, Float8::none);
    const double at_one =
        product_seconds(rates, product.shape[0], product.shape[1], product.shape[2], 1, 0, 0);
    const double launch = device_.graph_launch_us.value * kMicro;
    return at_one / std::max(product.seconds - launch, product.seconds / 2);
  }

  void products(const char* key, GpuWork what) {
    std::vector<double> found;
    for (const GpuMeasurement* each : all_of(what)) found.push_back(product_rate(*each) / kTera);
    if (found.empty()) return;
    const auto [median, spread] = measured_spread(std::move(found));
    number(key, median, spread);
  }

  // The same product, once in a while and without a pause.
  void sustained() {
    for (const GpuMeasurement* each : all_of(GpuWork::sustained_product))
      for (const GpuMeasurement* once : all_of(GpuWork::product))
        if (once->shape == each->shape && once->name == each->name)
          number("sustained_share", std::min(1.0, once->seconds / each->seconds), each->spread);
  }

  void rates(const char* key, GpuWork what, double unit) {
    std::vector<double> found;
    for (const GpuMeasurement* each : all_of(what))
      found.push_back(each->work / each->seconds / unit);
    if (found.empty()) return;
    const auto [median, spread] = measured_spread(std::move(found));
    number(key, median, spread);
  }

  // As catalogue_rates makes times of them: what the gather takes longer, and the part of that time
  // by which products do.
  void contention() {
    std::vector<double> slower, taken;
    for (const GpuContention& each : calibration_.contention) {
      if (each.gather_alone <= 0 || each.gather_beside <= 0) continue;
      slower.push_back(std::max(0.0, each.gather_beside / each.gather_alone - 1));
      taken.push_back(std::max(0.0, each.products_beside - each.products_alone) /
                      each.gather_beside * device_.multiprocessors.value);
    }
    if (slower.empty()) return;
    // Shares of next to nothing have no spread of their own.
    number("transfer_slowdown", measured_spread(std::move(slower)).median);
    number("transfer_multiprocessors", measured_spread(std::move(taken)).median);
  }

  std::string line_of(const std::string& key, double value, double spread) const {
    return fmt::format("{} = {{ value = {:.4g}, {} }}\n", key, value, provenance(spread));
  }

  std::string provenance(double spread) const {
    return fmt::format("from = \"measured\", spread = {:.3g}, source = \"{}\"",
                       std::min(spread, hardware::kMaxSpread), source_);
  }

  std::string collectives(const char* key, const std::vector<GpuWork>& kinds) {
    std::map<int64_t, std::vector<const GpuMeasurement*>> by_ranks;
    for (const GpuWork what : kinds)
      for (const GpuMeasurement* each : all_of(what))
        if (each->work >= kSimpleBytes) by_ranks[each->shape[0]].push_back(each);
    std::string lines;
    for (const auto& [ranks, points] : by_ranks) {
      const auto line = line_through(points);
      const double us = line ? line->latency / kMicro : 0, rate = line ? line->rate / kGiga : 0;
      if (!line || us > hardware::kMaxLatencyUs || rate < hardware::kMinGbPerS ||
          rate > hardware::kMaxGbPerS) {
        remark(fmt::format("{} of {} ranks: no latency and rate explain what was measured", key,
                           ranks));
        continue;
      }
      lines += fmt::format("  {{ ranks = {}, latency_us = {:.4g}, gb_per_s = {:.4g}, {} }},\n",
                           ranks, us, rate, provenance(line->spread));
    }
    return lines.empty() ? "" : fmt::format("{} = [\n{}]\n", key, lines);
  }

  // The characters that a string or a comment may hold.
  static std::string plain(std::string text) {
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < ' ' || c == '"' || c == '\\'; }, ' ');
    return text;
  }

  std::string text() {
    const std::string host = plain(calibration_.host);
    std::string text = fmt::format(
        "# {}: {} rank{}, each on one {}, all of them busy.\n# While products ran: {}.\n"
        "[device.\"{}\"]\nlike = \"{}\"\ntitle = \"{} of {}\"\n",
        source_, calibration_.ranks, calibration_.ranks == 1 ? "" : "s", plain(calibration_.gpu),
        plain(calibration_.state), name_, device_.name, device_.title, host);
    for (const auto& field : hardware::numbers(&device_))
      if (const auto kept = kept_.find(field.key); kept != kept_.end())
        text += line_of(kept->first, (device_.*field.member).value, kept->second);
    text += fmt::format(
        "\n[node.\"{}\"]\nlike = \"{}\"\ntitle = \"{}\"\ndevice = \"{}\"\ndevices = {}\n", name_,
        node_.name, node_.title, name_, calibration_.gpus);
    if (calibration_.ranks > 1)
      text += line_of("buffers_gib", static_cast<double>(calibration_.buffers_bytes) / kGiB, 0);
    text += collectives("gather", {GpuWork::gather, GpuWork::scatter});
    text += collectives("all_reduce", {GpuWork::all_reduce});
    text += collectives("all_to_all", {GpuWork::all_to_all});
    return text;
  }

  const GpuCalibration& calibration_;
  Device device_;
  const hardware::Node& node_;
  const std::string name_ = measured_name(calibration_.host);
  std::string source_;
  std::map<std::string, double> kept_;  // by key: its spread
  std::vector<std::string> remarks_;
};

}  // namespace

std::string measured_name(const std::string& host) {
  std::string name = "measured-" + host;
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '-'; }, '-');
  return name;
}

Result<MeasuredEntry> measured_entry(const GpuCalibration& calibration,
                                     const hardware::Catalogue& catalogue) {
  const Device* device = catalogue.of_driver(calibration.gpu);
  const auto node = std::ranges::find_if(catalogue.nodes, [&](const auto& each) {
    return device && each.second.device == device->name;
  });
  if (node == catalogue.nodes.end())
    return fail(
        "the catalogue has no entry for {}, to which what was measured could be added; valid: a "
        "file of your own in {} that describes it, with [device.NAME], driver = [\"{}\"] and the "
        "numbers of its data sheet, and [node.NAME]",
        calibration.gpu, hardware::user_folder(), calibration.gpu);
  return Entry(calibration, *device, node->second).take();
}

}  // namespace heddle::cost
