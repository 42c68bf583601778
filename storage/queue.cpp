#include "storage/queue.h"

#include <algorithm>

#include "base/one_line.h"
#include "storage/connection.h"
#include "storage/queries.h"
#include "storage/run_rows.h"

namespace heddle::storage {

void enter_queue(Connection& connection, RunId run, const Waiting& waiting) {
  connection.execute(
      "INSERT INTO queue (run, place, at_once, mode) "
      "SELECT ?, coalesce(max(place), 0) + 1, ?, ? FROM queue",
      run, waiting.at_once, waiting.mode);
  touch(connection, run);
}

void leave_queue(Connection& connection, RunId run) {
  if (connection.execute("DELETE FROM queue WHERE run = ?", run) > 0) touch(connection, run);
}

Result<> require_queued(Connection& connection, RunId run) {
  if (Result<> found = require_run(connection, run); !found) return found;
  if (connection.query("SELECT 1 FROM queue WHERE run = ?", run).next()) return {};
  Rows rows = connection.query("SELECT name, state FROM runs WHERE id = ?", run);
  rows.next();
  return fail("{} is not in the queue: it is {}", rows.text(0), rows.text(1));
}

void reorder_queue(Connection& connection, const std::vector<RunId>& runs) {
  std::vector<RunId> order;
  const auto waits = queue_of(connection);
  const auto is_in = [](const std::vector<RunId>& list, RunId run) {
    return std::ranges::find(list, run) != list.end();
  };
  for (const RunId run : runs)
    if (!is_in(order, run)) order.push_back(run);
  for (const QueuedRun& each : waits)
    if (!is_in(order, each.run)) order.push_back(each.run);
  int64_t place = 0;
  for (const RunId run : order)
    connection.execute("UPDATE queue SET place = ? WHERE run = ?", ++place, run);
}

void set_halving(Connection& connection, const std::string& group, const Halving& halving) {
  connection.execute("DELETE FROM rungs WHERE group_name = ?", group);
  for (const Rung& rung : halving.rungs)
    connection.execute("INSERT INTO rungs (group_name, step, keep, metric) VALUES (?, ?, ?, ?)",
                       group, rung.step, rung.keep, halving.metric);
}

std::vector<QueuedRun> queue_of(Connection& connection) {
  std::vector<QueuedRun> runs;
  Rows rows = connection.query(
      "SELECT run, name, target, group_name, at_once, mode, cause FROM queue "
      "JOIN runs ON runs.id = queue.run ORDER BY place, run");
  while (rows.next())
    runs.push_back({.run = rows.integer(0),
                    .name = one_line(rows.text(1)),
                    .target = one_line(rows.text(2)),
                    .group = one_line(rows.text(3)),
                    .waiting = {.at_once = rows.integer(4), .mode = rows.text(5)},
                    .trouble = rows.text(6)});
  return runs;
}

Halvings halvings_of(Connection& connection) {
  Halvings halvings;
  Rows rows = connection.query(
      "SELECT group_name, metric, step, keep FROM rungs ORDER BY group_name, step");
  while (rows.next()) {
    Halving& halving = halvings[rows.text(0)];
    halving.metric = rows.text(1);
    halving.rungs.push_back({rows.integer(2), rows.integer(3)});
  }
  return halvings;
}

Result<std::vector<QueuedRun>> Reader::queue() {
  return guarded(*connection_,
                 [&]() -> Result<std::vector<QueuedRun>> { return queue_of(*connection_); });
}

Result<Halvings> Reader::halvings() {
  return guarded(*connection_, [&]() -> Result<Halvings> { return halvings_of(*connection_); });
}

}  // namespace heddle::storage
