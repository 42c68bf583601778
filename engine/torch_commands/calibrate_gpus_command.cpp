// `heddle-engine calibrate --device cuda`: a rank on each GPU measures; an entry of the catalogue
// keeps what they found.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/json_text.h"
#include "base/number_text.h"
#include "base/say.h"
#include "engine/cost/gpu_calibration.h"
#include "engine/probe/report.h"
#include "engine/recipe/parse.h"
#include "engine/torch_commands/calibrating.h"

namespace heddle::torch_commands {
namespace {

using cost::GpuCalibration;
using cost::GpuMeasurement;

// The GPUs of this node, none of which is in use. Where the driver's tool tells of none the ranks
// see by themselves.
Result<int64_t> free_gpus() {
  const auto node = probe::probe_this_machine();
  if (!node || node->gpus.empty()) return 0;
  if (!node->gpu_fault.empty()) return fail("{}", node->gpu_fault);
  for (const probe::Check& check : node->checks)
    if (check.name == "GPU memory" && check.status != probe::Status::pass)
      return fail(
          "{}: what would be measured beside it is not what the GPU can do; wait, ask, or choose "
          "others with CUDA_VISIBLE_DEVICES",
          check.value);
  return static_cast<int64_t>(node->gpus.size());
}

Result<GpuCalibration> measure(int32_t ranks) {
  const auto gpus = free_gpus();
  if (!gpus) return fail(gpus);
  const auto most = static_cast<int32_t>(std::max<int64_t>(*gpus, 1));
  recipe::Recipe recipe;
  recipe.hardware.device = "cuda";
  recipe.hardware.ranks = ranks > 0 ? ranks : most;
  const auto measured =
      measure_with_ranks(static_cast<int32_t>(recipe.hardware.ranks), recipe::to_toml(recipe));
  if (!measured) return fail(measured);
  try {
    GpuCalibration calibration = cost::gpu_calibration_from_json(*measured);
    calibration.gpus = std::max(calibration.ranks, *gpus);
    return calibration;
  } catch (const nlohmann::json::exception& error) {
    return fail("results.json: {}", error.what());
  }
}

// The file that the catalogue reads from then on.
Result<std::string> keep(const cost::MeasuredEntry& entry) {
  const std::string folder = hardware::user_folder();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail("{}: {}", folder, error.message());
  const std::string file = fmt::format("{}/{}.toml", folder, entry.name);
  if (const auto written = write_atomically(file, entry.text); !written) return fail(written);
  if (const auto found = hardware::load_catalogue().find(entry.name); !found) return fail(found);
  return file;
}

void print(const GpuCalibration& of) {
  say("{}: {} × {}, {} a GPU, all busy; while products ran {}\n", of.host, of.ranks, of.gpu,
      bytes_text(static_cast<double>(of.memory_bytes)), of.state);
  say("\n{:<20} {:<26} {:<22} {:>12} {:>16} {:>8}\n", "what", "operator", "shape or ranks", "ms",
      "TFLOP/s or GB/s", "spread");
  for (const GpuMeasurement& each : of.measurements) {
    const bool flops = each.what <= cost::GpuWork::attention_backward;
    const bool launched =
        each.what == cost::GpuWork::launch || each.what == cost::GpuWork::graph_launch;
    const bool collective = each.what >= cost::GpuWork::gather;
    std::string shape = fmt::format("{}", fmt::join(each.shape, " x "));
    if (collective) shape += " of " + bytes_text(each.work);
    say("{:<20} {:<26} {:<22} {:>12.5g} {:>16} {:>6.1f} %\n",
        cost::kGpuWorkNames[static_cast<size_t>(each.what)], each.name, shape, each.seconds * 1e3,
        launched ? "" : fmt::format("{:.1f}", each.work / each.seconds * (flops ? 1e-12 : 1e-9)),
        each.spread * 100);
  }
  for (const cost::GpuContention& each : of.contention)
    say("\na gather of {} by {} ranks: {:.3f} ms alone, {:.3f} ms beside products, which take "
        "{:.3f} "
        "ms for {:.3f} then\n",
        bytes_text(static_cast<double>(each.bytes)), each.ranks, each.gather_alone * 1e3,
        each.gather_beside * 1e3, each.products_beside * 1e3, each.products_alone * 1e3);
}

}  // namespace

int calibrate_gpus(int32_t ranks, bool json) {
  const auto failed = [](const std::string& why) {
    say(stderr, "{}\n", why);
    return 1;
  };
  const auto calibration = measure(ranks);
  if (!calibration) return failed(calibration.error().message);
  if (!json) print(*calibration);
  const auto entry = cost::measured_entry(*calibration, hardware::load_catalogue());
  if (!entry) return failed(entry.error().message);
  const auto file = keep(*entry);
  if (!file) return failed(file.error().message);
  if (json) {
    nlohmann::json told = cost::to_json(*calibration);
    told["entry"] = entry->name;
    told["file"] = *file;
    told["remarks"] = entry->remarks;
    say("{}\n", json_text(told));
    return 0;
  }
  say("\n");
  for (const std::string& remark : entry->remarks) say("not kept: {}\n", remark);
  say("kept in {}; heddle-engine plan RECIPE --hardware {} plans by it\n", *file, entry->name);
  return 0;
}

}  // namespace heddle::torch_commands
