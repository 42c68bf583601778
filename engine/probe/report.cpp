#include "engine/probe/report.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json_number.h"
#include "base/json_text.h"
#include "base/read_json.h"

namespace heddle::probe {
namespace {

using nlohmann::json;

constexpr std::array kWords{"pass", "warn", "fail", "unknown"};

Status status_of(const std::string& text) {
  const auto found = std::find(kWords.begin(), kWords.end(), text);
  return found == kWords.end() ? Status::unknown : static_cast<Status>(found - kWords.begin());
}

/// Reports of earlier versions know less.
Gpu gpu_from_json(const json& object) {
  Gpu gpu{object.at("name"), whole<int64_t>(object.at("memory_bytes")), object.at("driver")};
  gpu.free_bytes = whole_or(object, "free_bytes", int64_t{-1});
  gpu.numa_node = whole_or(object, "numa_node", int64_t{-1});
  for (const json& user : object.value("users", json::array()))
    gpu.users.push_back({user.at("user"), whole<int64_t>(user.at("pid")),
                         whole<int64_t>(user.at("bytes")), user.at("program")});
  return gpu;
}

}  // namespace

std::string_view word(Status status) { return kWords[static_cast<size_t>(status)]; }

Status Report::worst() const {
  for (const Status status : {Status::fail, Status::warn, Status::unknown}) {
    const auto is = [&](const Check& check) { return check.status == status; };
    if (std::any_of(checks.begin(), checks.end(), is)) return status;
  }
  return Status::pass;
}

std::string to_json(const Report& report) {
  json gpus = json::array();
  for (const Gpu& gpu : report.gpus) {
    json users = json::array();
    for (const GpuUser& user : gpu.users)
      users.push_back({{"user", user.user},
                       {"pid", user.pid},
                       {"bytes", user.bytes},
                       {"program", user.program}});
    gpus.push_back({{"name", gpu.name},
                    {"memory_bytes", gpu.memory_bytes},
                    {"driver", gpu.driver},
                    {"free_bytes", gpu.free_bytes},
                    {"numa_node", gpu.numa_node},
                    {"users", std::move(users)}});
  }
  json checks = json::array();
  for (const Check& check : report.checks) {
    checks.push_back({{"name", check.name},
                      {"status", word(check.status)},
                      {"value", check.value},
                      {"advice", check.advice},
                      {"of_gpus", check.of_gpus}});
  }
  return json_text(json{{"host", report.host},
                        {"time", report.time},
                        {"cores", report.cores},
                        {"memory_bytes", report.memory_bytes},
                        {"available_bytes", report.available_bytes},
                        {"shared_memory_bytes", report.shared_memory_bytes},
                        {"free_disk_bytes", report.free_disk_bytes},
                        {"gpus", gpus},
                        {"gpu_fault", report.gpu_fault},
                        {"checks", checks}},
                   2);
}

Result<Report> report_from_json(const std::string& text) {
  const Result<json> read = read_json(text, {.bytes = size_t{1} << 20, .values = 10'000});
  if (!read) return fail("this is not a probe's report: {}", read.error().message);
  const json& object = *read;
  try {
    Report report;
    report.host = object.at("host");
    report.time = object.value("time", 0.0);
    report.cores = whole<int64_t>(object.at("cores"));
    report.memory_bytes = whole<int64_t>(object.at("memory_bytes"));
    report.available_bytes = whole_or(object, "available_bytes", int64_t{0});
    report.shared_memory_bytes = whole_or(object, "shared_memory_bytes", int64_t{0});
    report.free_disk_bytes = whole<int64_t>(object.at("free_disk_bytes"));
    for (const json& gpu : object.at("gpus")) report.gpus.push_back(gpu_from_json(gpu));
    report.gpu_fault = object.value("gpu_fault", "");
    for (const json& check : object.at("checks")) {
      report.checks.push_back({check.at("name"), status_of(check.at("status")), check.at("value"),
                               check.at("advice"), check.value("of_gpus", false)});
    }
    return report;
  } catch (const json::exception& error) {
    return fail("this is not a probe's report: {}", error.what());
  }
}

std::string to_text(const Report& report) {
  std::string text = report.host + "\n";
  for (const Check& check : report.checks) {
    text += fmt::format("  {:<8} {:<16} {}", word(check.status), check.name, check.value);
    text += check.advice.empty() ? "\n" : " (" + check.advice + ")\n";
  }
  return text;
}

}  // namespace heddle::probe
