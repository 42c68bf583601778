#include "workbench/place.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

namespace heddle::workbench {

using nlohmann::json;

Place place_on(const remote::Target& target) {
  Place place;
  place.target = target;
  place.launcher = launch::identify(getpid());
  place.launcher_boot_id = launch::boot_id();
  return place;
}

std::string to_json(const Place& place) {
  json shares = json::array();
  for (const Share& share : place.shares) {
    shares.push_back({{"run_dir", share.run_dir},
                      {"engine", share.engine},
                      {"first_rank", share.first_rank},
                      {"local_ranks", share.local_ranks}});
  }
  return json{{"target", json::parse(remote::to_json(place.target))},
              {"shares", shares},
              {"epoch", place.epoch},
              {"launcher",
               {{"pid", place.launcher.pid},
                {"start_time", place.launcher.start_time},
                {"boot_id", place.launcher_boot_id}}}}
      .dump();
}

Result<Place> place_from_json(const std::string& text) {
  try {
    const json read = json::parse(text);
    Result<remote::Target> target = remote::target_from_json(read.at("target").dump());
    if (!target) return fail(target);
    Place place;
    place.target = std::move(*target);
    for (const json& share : read.at("shares")) {
      place.shares.push_back({share.at("run_dir"), share.at("engine"), share.at("first_rank"),
                              share.at("local_ranks")});
    }
    place.epoch = read.at("epoch");
    const json& launcher = read.at("launcher");
    place.launcher = {launcher.at("pid"), launcher.at("start_time")};
    place.launcher_boot_id = launcher.at("boot_id");
    return place;
  } catch (const json::exception& error) {
    return fail("where the run lives cannot be read: {}", error.what());
  }
}

bool launcher_lives(const Place& place) {
  return place.launcher_boot_id == launch::boot_id() &&
         launch::identify(place.launcher.pid) == place.launcher;
}

}  // namespace heddle::workbench
