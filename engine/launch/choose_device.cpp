#include "engine/launch/choose_device.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/excerpt.h"
#include "base/host_name.h"
#include "base/json_number.h"
#include "base/json_text.h"
#include "base/process.h"
#include "base/read_json.h"

namespace heddle::launch {
namespace {

using nlohmann::json;

std::string plural(int64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// CUDA's first call takes seconds where no program keeps the driver awake.
constexpr std::chrono::seconds kPatience{60};

}  // namespace

DeviceChoice choose_device(const std::vector<GpusOf>& hosts, int64_t ranks_of_host, bool share) {
  const std::string ranks = plural(ranks_of_host * static_cast<int64_t>(hosts.size()), "rank");
  const auto cpu = [&](const std::string& why) {
    return DeviceChoice{false, fmt::format("{} on the CPU: {}", ranks, why)};
  };
  for (const GpusOf& host : hosts) {
    if (!host.fault.empty()) return cpu(fmt::format("of {}'s GPUs: {}", host.host, host.fault));
    if (host.count == 0) return cpu(host.host + " has no GPU that can be used");
    if (host.count < ranks_of_host && !share)
      return cpu(
          fmt::format("{} has {} for {}, and each takes one; hardware.ranks = {} fits, and with "
                      "transport.gpus = \"host\" ranks share them",
                      host.host, plural(host.count, "GPU"), plural(ranks_of_host, "rank"),
                      host.count * static_cast<int64_t>(hosts.size())));
  }
  int64_t count = 0;
  for (const GpusOf& host : hosts) count += host.count;
  return {true, fmt::format("{} on {} × {}", ranks, count, hosts.front().name)};
}

GpusOf gpus_here(const std::string& engine, const std::string& devices) {
  GpusOf here{.host = host_name()};
  // WSL has the second one.
  if (!std::filesystem::exists(devices + "/nvidiactl") &&
      !std::filesystem::exists(devices + "/dxg"))
    return here;
  process::Command ask;
  ask.argv = {engine, "gpus"};
  ask.deadline = kPatience;
  const Result<process::Completed> answer = process::run(ask);
  if (!answer) {
    here.fault = answer.error().message;
    return here;
  }
  const Result<json> read = read_json(answer->out, {.bytes = size_t{1} << 16, .values = 16});
  try {
    if (!read || answer->exit_code != 0) throw std::invalid_argument("no answer");
    here.count = whole<int64_t>(read->at("count"));
    here.name = read->at("name");
    here.fault = read->at("error");
  } catch (const std::exception&) {
    here.fault =
        fmt::format("{} gpus ended with {}: {}", engine, answer->exit_code, excerpt(answer->err));
  }
  return here;
}

std::string gpus_text(int64_t count, const std::string& name, const std::string& error) {
  return json_text(json{{"count", count}, {"name", name}, {"error", error}});
}

}  // namespace heddle::launch
