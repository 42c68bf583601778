#include "engine/runs/run_files.h"

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/json_number.h"
#include "base/json_text.h"
#include "base/process_id.h"
#include "base/read_file.h"
#include "base/read_json.h"

namespace heddle::runs {
namespace {

using nlohmann::json;

/// None where there is no such file.
Result<std::optional<json>> read_run_file(const std::string& path) {
  const auto text = read_file_if_there(path, kRunFile.bytes);
  if (!text) return fail(text);
  if (!*text) return std::optional<json>{};
  Result<json> read = read_json(**text, kRunFile);
  if (!read) return fail("{}: {}", path, read.error().message);
  return std::optional<json>{std::move(*read)};
}

ProcessId process_from(const json& json) {
  return {whole<pid_t>(json.at("pid")), whole<uint64_t>(json.at("start_time"))};
}

}  // namespace

std::string checkpoint_name_file(const std::string& run_dir) {
  return run_dir + "/checkpoint.name";
}

json to_json(const State& state) {
  json ranks = json::array();
  for (const State::Rank& rank : state.ranks) {
    ranks.push_back(
        {{"rank", rank.rank}, {"pid", rank.process.pid}, {"start_time", rank.process.start_time}});
  }
  return {{"pid", state.supervisor.pid}, {"start_time", state.supervisor.start_time},
          {"boot_id", state.boot_id},    {"epoch", state.epoch},
          {"port", state.port},          {"ranks", std::move(ranks)}};
}

json to_json(const End& end) {
  return {{"state", end.state},        {"exit_code", end.exit_code}, {"cause", end.cause},
          {"rank", end.rank},          {"signal", end.signal},       {"finished", end.finished},
          {"signature", end.signature}};
}

Result<State> state_from_json(const json& json) {
  try {
    State state;
    state.supervisor = process_from(json);
    state.boot_id = json.at("boot_id");
    state.epoch = whole<int32_t>(json.at("epoch"));
    state.port = whole<uint16_t>(json.at("port"));
    for (const auto& rank : json.at("ranks")) {
      state.ranks.push_back({whole<int32_t>(rank.at("rank")), process_from(rank)});
    }
    return state;
  } catch (const nlohmann::json::exception& error) {
    return fail("state.json: {}", error.what());
  }
}

Result<End> end_from_json(const json& json) {
  try {
    return End{json.at("state"),           whole<int>(json.at("exit_code")),
               json.at("cause"),           whole<int32_t>(json.at("rank")),
               json.at("signal"),          json.at("finished"),
               json.value("signature", "")};
  } catch (const nlohmann::json::exception& error) {
    return fail("end.json: {}", error.what());
  }
}

Result<> write_state(const std::string& run_dir, const State& state) {
  return write_atomically(state_file(run_dir), json_text(to_json(state)) + "\n");
}

Result<> write_state(NewFile room, const std::string& run_dir, const State& state) {
  return write_atomically(std::move(room), state_file(run_dir), json_text(to_json(state)) + "\n");
}

std::string state_file(const std::string& run_dir) { return run_dir + "/state.json"; }

std::string end_file(const std::string& run_dir) { return run_dir + "/end.json"; }

Result<> write_end(const std::string& run_dir, const End& end) {
  return write_atomically(end_file(run_dir), json_text(to_json(end)) + "\n");
}

Result<> write_end(NewFile room, const std::string& run_dir, const End& end) {
  return write_atomically(std::move(room), end_file(run_dir), json_text(to_json(end)) + "\n");
}

Result<std::optional<State>> read_state(const std::string& run_dir) {
  const Result<std::optional<json>> read = read_run_file(state_file(run_dir));
  if (!read) return fail(read);
  if (!*read) return std::optional<State>{};
  return state_from_json(**read).map([](State state) { return std::optional(std::move(state)); });
}

Result<std::optional<End>> read_end(const std::string& run_dir) {
  const Result<std::optional<json>> read = read_run_file(run_dir + "/end.json");
  if (!read) return fail(read);
  if (!*read) return std::optional<End>{};
  return end_from_json(**read).map([](End end) { return std::optional(std::move(end)); });
}

Result<Status> read_status(const std::string& run_dir) {
  Status status;
  Result<std::optional<State>> state = read_state(run_dir);
  if (!state) return fail(state);
  // The supervisor is looked for before end.json is: one that ends in between is not lost.
  struct stat about {};
  const bool alive = *state && (*state)->boot_id == boot_id() &&
                     stat(state_file(run_dir).c_str(), &about) == 0 &&
                     lives((*state)->supervisor, about.st_uid);
  Result<std::optional<End>> end = read_end(run_dir);
  status.state = std::move(*state);
  if (end) status.end = std::move(*end);
  if (alive) {
    status.condition = Condition::running;
    status.stopped = is_stopped(status.state->supervisor.pid);
  } else if (status.end) {
    status.condition = Condition::ended;
  } else if (status.state || !end) {
    status.condition = Condition::lost;
  }
  return status;
}

json to_json(const Status& status) {
  constexpr const char* names[] = {"absent", "running", "ended", "lost"};
  return {{"condition", names[static_cast<int>(status.condition)]},
          {"stopped", status.stopped},
          {"state", status.state ? to_json(*status.state) : json()},
          {"end", status.end ? to_json(*status.end) : json()}};
}

Result<Status> status_from_json(const json& json) {
  Status status;
  const auto said = json.find("condition");
  const std::string condition =
      said != json.end() && said->is_string() ? said->get<std::string>() : "";
  if (condition == "running") {
    status.condition = Condition::running;
  } else if (condition == "ended") {
    status.condition = Condition::ended;
  } else if (condition == "lost") {
    status.condition = Condition::lost;
  } else if (condition != "absent") {
    return fail("condition: '{}' is unknown; valid: absent | running | ended | lost", condition);
  }
  const auto stopped = json.find("stopped");
  if (stopped != json.end()) {
    if (!stopped->is_boolean())
      return fail("stopped: {}; valid: true | false", json_text(*stopped));
    status.stopped = stopped->get<bool>();
  }
  if (json.contains("state") && !json["state"].is_null()) {
    Result<State> state = state_from_json(json["state"]);
    if (!state) return fail(state);
    status.state = std::move(*state);
  }
  if (json.contains("end") && !json["end"].is_null()) {
    Result<End> end = end_from_json(json["end"]);
    if (!end) return fail(end);
    status.end = std::move(*end);
  }
  return status;
}

}  // namespace heddle::runs
