// Runs that wait for their target, in order, and the halvings of sweeps. A waiting run is a row
// like any other whose state is `queued`; it leaves the queue when its place is set or it ends.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/run.h"

namespace heddle::storage {

class Connection;

/// A run of the queue.
struct QueuedRun {
  RunId run = 0;
  std::string name;
  std::string target;
  std::string group;
  Waiting waiting;
  std::string trouble;  // why it could not be started when it was tried; empty: it was not
};

/// After `step` the best `keep` runs of a group go on.
struct Rung {
  int64_t step = 0;
  int64_t keep = 0;
  bool operator==(const Rung&) const = default;
};

/// The worst runs of a group are stopped at each rung, by a metric.
struct Halving {
  std::string metric;
  std::vector<Rung> rungs = {};  // ascending
  bool operator==(const Halving&) const = default;
};

/// By group.
using Halvings = std::map<std::string, Halving>;

// Inside the writer's transaction; these throw SQLite::Exception.

void enter_queue(Connection& connection, RunId run, const Waiting& waiting);
/// Nothing where it is not in it.
void leave_queue(Connection& connection, RunId run);
/// Fails with its state when it does not wait.
Result<> require_queued(Connection& connection, RunId run);
/// These runs come first, in this order; the others stay in theirs.
void reorder_queue(Connection& connection, const std::vector<RunId>& runs);
/// Without rungs the group has none from now on.
void set_halving(Connection& connection, const std::string& group, const Halving& halving);

std::vector<QueuedRun> queue_of(Connection& connection);
Halvings halvings_of(Connection& connection);

}  // namespace heddle::storage
