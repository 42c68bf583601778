#include "engine/probe/gpus_here.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/excerpt.h"
#include "base/host_name.h"
#include "base/json_number.h"
#include "base/json_text.h"
#include "base/process.h"
#include "base/read_json.h"

namespace heddle::probe {
namespace {

using nlohmann::json;

/// CUDA's first call takes seconds where no program keeps the driver awake.
constexpr std::chrono::seconds kPatience{60};

}  // namespace

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

}  // namespace heddle::probe
