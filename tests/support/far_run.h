// A run on a host that nobody reaches.
#pragma once

#include "remote/target.h"
#include "storage/run.h"
#include "workbench/place.h"

namespace heddle {

/// "far" on "node", an address of this machine that nothing listens at.
inline storage::NewRun far_run() {
  workbench::Place place;
  place.target.name = "node";
  place.target.hosts = {*remote::parse_host("nobody@127.0.0.1:1")};
  workbench::Share& share = place.shares.emplace_back();
  share.root = "/srv/.heddle";
  share.folder = "far";
  storage::NewRun run;
  run.name = "far";
  run.target = "node";
  run.hosts = workbench::to_json(place);
  return run;
}

}  // namespace heddle
