#include "engine/cost/checks.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/durable_file.h"
#include "base/file_lock.h"
#include "base/host_name.h"
#include "base/json_text.h"
#include "base/read_file.h"
#include "base/read_json.h"
#include "engine/cost/calibration.h"
#include "engine/cost/gpu_calibration.h"
#include "engine/cost/rates.h"
#include "engine/hardware/catalogue.h"

namespace heddle::cost {
namespace {

using nlohmann::json;

constexpr size_t kKept = 40;
constexpr std::chrono::seconds kPatience{5};

json to_json(const Check& check) {
  return {{"host", check.host},
          {"device", check.device},
          {"ranks", check.ranks},
          {"time", check.time},
          {"seconds", {check.predicted_seconds, check.measured_seconds}},
          {"bytes", {check.predicted_bytes, check.measured_bytes}},
          {"build", check.build},
          {"local_ranks", check.local_ranks},
          {"threads", check.threads},
          {"work", check.work},
          {"others", check.others}};
}

Check check_from_json(const json& read) {
  return {.host = read.at("host"),
          .device = read.at("device"),
          .ranks = read.at("ranks"),
          .time = read.at("time"),
          .predicted_seconds = read.at("seconds").at(0),
          .measured_seconds = read.at("seconds").at(1),
          .predicted_bytes = read.at("bytes").at(0),
          .measured_bytes = read.at("bytes").at(1),
          .build = read.value("build", std::string()),
          .local_ranks = read.value("local_ranks", int64_t{1}),
          .threads = read.value("threads", int64_t{1}),
          .work = read.value("work", WorkRatios()),
          .others = read.value("others", 0.0)};
}

/// None where there is no file or it is no JSON; an entry that is no check is left out. An error
/// where it cannot be read, so that nobody takes it for empty.
Result<std::vector<Check>> checks_in(const std::string& path) {
  std::vector<Check> checks;
  const auto text = read_file_if_there(path, Budget{}.bytes);
  if (!text) return fail(text);
  const Result<json> read = *text ? read_json(**text) : json::array();
  if (!read || !read->is_array()) return checks;
  for (const json& each : *read) {
    try {
      checks.push_back(check_from_json(each));
    } catch (const json::exception&) {
      continue;
    }
  }
  return checks;
}

/// Student's t that one in twenty exceeds, on either side, by Cornish and Fisher's expansion: true
/// to 2 % from four degrees of freedom on (Abramowitz and Stegun, 26.7.5).
double student(double freedom) {
  constexpr double z = 1.6449, z3 = z * z * z, z5 = z3 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

// "+4 %"; "3.1 times" where a share would have to be read twice.
std::string off(double share) {
  return share < 1 ? fmt::format("{:+.0f} %", share * 100) : fmt::format("{:.1f} times", share + 1);
}
std::string off(double least, double most) {
  if (most - least < 0.005) return off(most);
  if (most < 1) return fmt::format("{:+.0f} to {:+.0f} %", least * 100, most * 100);
  return fmt::format("{} to {}", off(least), off(most));
}

}  // namespace

std::string checks_file() {
  return std::filesystem::path(calibration_file()).replace_filename("checks.json").string();
}

std::vector<Check> read_checks(const std::string& path) {
  return checks_in(path).value_or(std::vector<Check>());
}

Result<> keep_check(const std::string& path, const Check& check) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return fail("{}: {}", path, error.message());
  // Two runs may end at once.
  const Result<FileLock> lock = FileLock::take(path + ".lock", kPatience);
  if (!lock) return fail(lock);
  if (lock->state() == FileLock::State::of_another)
    return fail("{}: {} has been writing it for 5 s", path, lock->holder());
  Result<std::vector<Check>> known = checks_in(path);
  if (!known) return fail(known);
  std::vector<Check> checks = std::move(*known);
  checks.push_back(check);
  json kept = json::array();
  for (size_t i = checks.size() - std::min(checks.size(), kKept); i < checks.size(); ++i)
    kept.push_back(to_json(checks[i]));
  return write_atomically(path, json_text(kept) + "\n");
}

std::optional<Spread> spread_of(const std::vector<double>& ratios) {
  constexpr size_t kFewest = 5;
  if (ratios.size() < kFewest) return std::nullopt;
  const auto count = static_cast<double>(ratios.size());
  double mean = 0, squares = 0;
  for (const double each : ratios) mean += std::log(each) / count;
  for (const double each : ratios) squares += std::pow(std::log(each) - mean, 2);
  const double half =
      student(count - 1) * std::sqrt(squares / (count - 1)) * std::sqrt(1 + 1 / count);
  return Spread{std::exp(mean - half), std::exp(mean + half)};
}

Trust trust_here(const std::string& device) {
  return trust_in(read_checks(checks_file()), host_name(), device, calibrated_here(device));
}

double calibrated_here(const std::string& device) {
  if (device == "cuda") {
    const std::string file =
        fmt::format("{}/{}.toml", hardware::user_folder(), measured_name(host_name()));
    struct stat entry {};
    return stat(file.c_str(), &entry) == 0 ? static_cast<double>(entry.st_mtim.tv_sec) : 0;
  }
  const auto kept = read_calibrations(calibration_file());
  const Calibration* last = kept ? newest(*kept, host_name()) : nullptr;
  return last ? last->time : 0;
}

Trust trust_in(const std::vector<Check>& checks, const std::string& host, const std::string& device,
               double since) {
  std::vector<double> steps, bytes, off_steps, off_bytes;
  int64_t busy = 0;
  for (const Check& each : checks) {
    if (each.host != host || each.device != device || each.time < since) continue;
    if (each.others > 0) {
      ++busy;
      continue;
    }
    if (each.predicted_seconds <= 0 || each.predicted_bytes <= 0) continue;
    if (each.measured_seconds <= 0 || each.measured_bytes <= 0) continue;
    steps.push_back(each.measured_seconds / each.predicted_seconds);
    bytes.push_back(each.measured_bytes / each.predicted_bytes);
    off_steps.push_back(steps.back() - 1);
    off_bytes.push_back(bytes.back() - 1);
  }
  const std::string left_out =
      busy == 0 ? ""
                : fmt::format("{} here on a busy machine, not counted",
                              busy == 1 ? "a run" : fmt::format("{} runs", busy));
  if (steps.empty()) return {0, left_out, {}, {}};
  std::vector<double> sizes;
  for (const double each : off_steps) sizes.push_back(std::abs(each));
  std::ranges::sort(sizes);
  const auto [least, most] = std::ranges::minmax(off_steps);
  const auto [least_bytes, most_bytes] = std::ranges::minmax(off_bytes);
  return {
      sizes[sizes.size() / 2],
      fmt::format("the last {} here since it was calibrated: steps {}, memory {} of what was "
                  "predicted{}{}",
                  steps.size() == 1 ? "run" : fmt::format("{} runs", steps.size()),
                  off(least, most), off(least_bytes, most_bytes), busy == 0 ? "" : "; ", left_out),
      spread_of(steps), spread_of(bytes)};
}

}  // namespace heddle::cost
