#include "workbench/place.h"

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json_number.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "workbench/backend.h"
#include "workbench/paths.h"

namespace heddle::workbench {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::string_view kRuns = "/runs/", kEngines = "/engines/", kProgram = "/heddle-engine";

bool is_plain(const std::string& name) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !name.empty() && name.front() != '.' &&
         name.find_first_not_of(allowed) == std::string::npos;
}

bool is_hash(const std::string& id) {
  return id.size() == 64 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Absolute, what the target says, and nothing that leads elsewhere.
bool is_root(const std::string& root, const std::string& target_s) {
  const std::string said = remote::tidy_folder(target_s);
  const fs::path path(root);
  if (!path.is_absolute() || path.lexically_normal() != path || !path.has_filename()) return false;
  return said.starts_with('~') ? root.ends_with(said.substr(1)) : root == said;
}

/// Earlier versions kept the paths.
Share share_of_paths(const std::string& run_dir, const std::string& engine) {
  Share share;
  if (const size_t at = run_dir.rfind(kRuns); at != std::string::npos) {
    share.root = run_dir.substr(0, at);
    share.folder = run_dir.substr(at + kRuns.size());
  }
  const std::string engines = share.root + std::string(kEngines);
  if (engine.starts_with(engines) && engine.ends_with(kProgram))
    share.engine_id =
        engine.substr(engines.size(), engine.size() - engines.size() - kProgram.size());
  return share;
}

Share share_from(const json& read) {
  Share share;
  if (read.contains("run_dir")) {
    share = share_of_paths(read.at("run_dir"), read.at("engine"));
  } else {
    share.root = read.at("root");
    share.folder = read.at("folder");
    share.engine_id = read.at("engine_id");
  }
  share.root = remote::tidy_folder(share.root);
  share.first_rank = whole<int32_t>(read.at("first_rank"));
  share.local_ranks = whole<int32_t>(read.at("local_ranks"));
  return share;
}

Result<> check(const Share& share, const remote::Target& target, const remote::Host& host) {
  const bool own_engine = backend_of(target).has_our_files();
  if (!is_root(share.root, target.root))
    return fail("where the run lives: '{}' is not the root of the target, {}", share.root,
                target.root);
  if (!is_plain(share.folder))
    return fail("where the run lives: '{}' is no run's folder; valid: A-Z a-z 0-9 . _ -",
                share.folder);
  if (own_engine ? !share.engine_id.empty() : !is_hash(share.engine_id))
    return fail("where the run lives: '{}' is no engine's id on {}; valid: {}", share.engine_id,
                host.name, own_engine ? "none" : "64 hexadecimal digits");
  return {};
}

}  // namespace

std::string Share::run_dir() const { return root + std::string(kRuns) + folder; }

std::string Share::engine() const {
  if (engine_id.empty()) return engine_path();
  return root + std::string(kEngines) + engine_id + std::string(kProgram);
}

Place place_on(const remote::Target& target) {
  Place place;
  place.target = target;
  place.launcher = identify(getpid());
  place.launcher_boot_id = boot_id();
  return place;
}

std::string to_json(const Place& place) {
  json shares = json::array();
  for (const Share& share : place.shares) {
    shares.push_back({{"root", share.root},
                      {"folder", share.folder},
                      {"engine_id", share.engine_id},
                      {"first_rank", share.first_rank},
                      {"local_ranks", share.local_ranks}});
  }
  return json_text(json{{"target", read_json(remote::to_json(place.target)).value()},
                        {"shares", shares},
                        {"epoch", place.epoch},
                        {"end_key", place.end_key},
                        {"launcher",
                         {{"pid", place.launcher.pid},
                          {"start_time", place.launcher.start_time},
                          {"boot_id", place.launcher_boot_id}}}});
}

Result<Place> place_from_json(const std::string& text) {
  if (text.empty())
    return fail("its store is not trusted: Heddle does not connect to the hosts that it names");
  const Result<json> whole_text = read_json(text);
  if (!whole_text)
    return fail("where the run lives cannot be read: {}", whole_text.error().message);
  const json& read = *whole_text;
  if (!read.is_object() || !read.contains("target"))
    return fail("the store does not say where the run lives");
  try {
    Result<remote::Target> target = remote::target_from_json(json_text(read.at("target")));
    if (!target) return fail(target);
    Place place;
    place.target = std::move(*target);
    for (const json& read_share : read.at("shares")) {
      if (place.shares.size() == place.target.parts())
        return fail("where the run lives: it has more parts than its target");
      Share share = share_from(read_share);
      const remote::Host& host = place.target.host_of(place.shares.size());
      if (Result<> checked = check(share, place.target, host); !checked) return fail(checked);
      place.shares.push_back(std::move(share));
    }
    place.epoch = whole<int32_t>(read.at("epoch"));
    place.end_key = read.value("end_key", "");
    const json& launcher = read.at("launcher");
    place.launcher = {whole<pid_t>(launcher.at("pid")), whole<uint64_t>(launcher.at("start_time"))};
    place.launcher_boot_id = launcher.at("boot_id");
    return place;
  } catch (const json::exception& error) {
    return fail("where the run lives cannot be read: {}", error.what());
  }
}

bool launcher_lives(const Place& place) {
  // In a container the launcher may be process 1.
  return place.launcher_boot_id == boot_id() && place.launcher.pid > 0 &&
         identify(place.launcher.pid) == place.launcher;
}

}  // namespace heddle::workbench
