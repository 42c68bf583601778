#include "engine/runs/launch.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/json_number.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "engine/runs/run_files.h"

namespace heddle::runs {
namespace {

using nlohmann::json;

bool is_run_name(const std::string& name) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !name.empty() && name.size() <= 64 && name.find_first_not_of(allowed) == std::string::npos;
}

Result<> check(const Launch& launch) {
  if (!is_run_name(launch.run)) {
    return fail("run: '{}' is no run name; valid: 1 to 64 of A-Z a-z 0-9 . _ -", launch.run);
  }
  if (launch.mode != "planned" && launch.mode != "eager" && launch.mode != "calibrate") {
    return fail("mode: '{}' is unknown; valid: planned | eager", launch.mode);
  }
  const int64_t end = int64_t{launch.first_rank} + launch.local_ranks;
  if (launch.local_ranks < 1 || launch.first_rank < 0 || end > launch.world_size) {
    return fail("ranks {} to {} are not among the {} of the run", launch.first_rank, end - 1,
                launch.world_size);
  }
  return {};
}

}  // namespace

Result<Launch> read_launch(const std::string& run_dir) {
  const std::string path = run_dir + "/launch.json";
  const Result<json> whole_file = read_json_file(path, kRunFile);
  if (!whole_file) return fail("{}; a run directory holds one", whole_file.error().message);
  const json& read = *whole_file;
  try {
    Launch launch;
    launch.run = read.at("run");
    launch.mode = read.value("mode", launch.mode);
    launch.graph_file = read.value("graph_file", launch.graph_file);
    launch.eval_to = read.value("eval_to", launch.eval_to);
    launch.world_size = whole<int32_t>(read.at("world_size"));
    launch.first_rank = whole_or(read, "first_rank", launch.first_rank);
    launch.local_ranks = whole<int32_t>(read.at("local_ranks"));
    launch.epoch = whole_or(read, "epoch", launch.epoch);
    launch.rendezvous_host = read.value("rendezvous_host", launch.rendezvous_host);
    launch.rendezvous_port = whole_or(read, "rendezvous_port", launch.rendezvous_port);
    launch.public_addresses = read.value("public_addresses", launch.public_addresses);
    launch.grace_seconds = read.value("grace_seconds", launch.grace_seconds);
    launch.begin_with = read.value("begin_with", launch.begin_with);
    if (const auto from = read.find("ancestry"); from != read.end())
      launch.ancestry = {from->at("kind"), from->at("parent"), whole<int64_t>(from->at("step"))};
    launch.device_choice = read.value("device_choice", launch.device_choice);
    launch.restarts = whole_or(read, "restarts", launch.restarts);
    launch.restart_cause = read.value("restart_cause", launch.restart_cause);
    if (Result<> checked = check(launch); !checked) {
      return fail("{}: {}", path, checked.error().message);
    }
    return launch;
  } catch (const json::exception& error) {
    return fail("{}: {}", path, error.what());
  }
}

Result<> write_launch(const std::string& run_dir, const Launch& launch) {
  const Result<std::string> text = launch_text(launch);
  if (!text) return fail(text);
  return write_atomically(run_dir + "/launch.json", *text);
}

Result<std::string> launch_text(const Launch& launch) {
  if (Result<> checked = check(launch); !checked) return fail(checked);
  json text{{"run", launch.run},
            {"mode", launch.mode},
            {"graph_file", launch.graph_file},
            {"eval_to", launch.eval_to},
            {"world_size", launch.world_size},
            {"first_rank", launch.first_rank},
            {"local_ranks", launch.local_ranks},
            {"epoch", launch.epoch},
            {"rendezvous_host", launch.rendezvous_host},
            {"rendezvous_port", launch.rendezvous_port},
            {"grace_seconds", launch.grace_seconds}};
  if (launch.public_addresses) text["public_addresses"] = true;
  if (!launch.begin_with.empty()) text["begin_with"] = launch.begin_with;
  if (const Ancestry& from = launch.ancestry; !from.kind.empty())
    text["ancestry"] = {{"kind", from.kind}, {"parent", from.parent}, {"step", from.step}};
  if (!launch.device_choice.empty()) text["device_choice"] = launch.device_choice;
  if (launch.restarts > 0) {
    text["restarts"] = launch.restarts;
    text["restart_cause"] = launch.restart_cause;
  }
  return json_text(text, 2) + "\n";
}

}  // namespace heddle::runs
