#include "engine/cost/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file_lock.h"
#include "base/json_text.h"
#include "base/read_file.h"
#include "base/read_json.h"
#include "engine/cost/calibration.h"
#include "engine/launch/run_files.h"

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
          {"bytes", {check.predicted_bytes, check.measured_bytes}}};
}

Check check_from_json(const json& read) {
  return {.host = read.at("host"),
          .device = read.at("device"),
          .ranks = read.at("ranks"),
          .time = read.at("time"),
          .predicted_seconds = read.at("seconds").at(0),
          .measured_seconds = read.at("seconds").at(1),
          .predicted_bytes = read.at("bytes").at(0),
          .measured_bytes = read.at("bytes").at(1)};
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

std::string off(double least, double most) {
  if (most - least < 0.005) return fmt::format("{:+.0f} %", most * 100);
  return fmt::format("{:+.0f} to {:+.0f} %", least * 100, most * 100);
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
  return launch::write_atomically(path, json_text(kept) + "\n");
}

Trust trust_in(const std::vector<Check>& checks, const std::string& host, const std::string& device,
               double since) {
  std::vector<double> steps, bytes;
  for (const Check& each : checks) {
    if (each.host != host || each.device != device || each.time < since) continue;
    if (each.predicted_seconds <= 0 || each.predicted_bytes <= 0) continue;
    steps.push_back(each.measured_seconds / each.predicted_seconds - 1);
    bytes.push_back(each.measured_bytes / each.predicted_bytes - 1);
  }
  if (steps.empty()) return {};
  std::vector<double> sizes;
  for (const double each : steps) sizes.push_back(std::abs(each));
  std::ranges::sort(sizes);
  const auto [least, most] = std::ranges::minmax(steps);
  const auto [least_bytes, most_bytes] = std::ranges::minmax(bytes);
  return {sizes[sizes.size() / 2],
          fmt::format("the last {} here since it was calibrated: steps {}, memory {} of what was "
                      "predicted",
                      steps.size() == 1 ? "run" : fmt::format("{} runs", steps.size()),
                      off(least, most), off(least_bytes, most_bytes))};
}

}  // namespace heddle::cost
