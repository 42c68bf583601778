// A run's rows other than its records, written inside the writer's transaction. All throw
// SQLite::Exception; a run that is not there is an error value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/connection.h"
#include "storage/run.h"
#include "storage/writer.h"

namespace heddle::storage {

/// See kClockAhead; 0 where the host's clock is not off.
double clock_ahead(Connection& connection, RunId run);

/// The column next to a NULL that keeps a NaN or infinity: 0 finite, 1 NaN, 2 +inf, 3 −inf.
int nonfinite_flag(double value);
double number_of(std::optional<double> stored, int64_t flag);

/// `wish`, else "wish-2", "wish-3" …: a name that no run has which is not in the trash.
std::string free_name(Connection& connection, const std::string& wish);

/// Fails when there is no such run.
Result<> require_run(Connection& connection, RunId run);

/// A row of the store that belongs to the run has changed: see Reader::runs_changed_since.
void touch(Connection& connection, RunId run);

Result<CreatedRun> create_run(Connection& connection, const NewRun& run);
/// Creates all or none. `halving`: their group's.
Result<std::vector<CreatedRun>> create_runs(Connection& connection, const std::vector<NewRun>& runs,
                                            const Halving& halving);
Result<> set_state(Connection& connection, RunId run, RunState state, const std::string& cause,
                   double time);
Result<> set_link(Connection& connection, RunId run, const Link& link);
Result<> rename_run(Connection& connection, RunId run, const std::string& name);
Result<> set_color(Connection& connection, RunId run, const std::string& color);
Result<> set_group(Connection& connection, RunId run, const std::string& group);
/// The column `tags` as a list.
std::vector<std::string> tags_in(std::string_view json);
/// Adds the missing tags, then removes. Returns the run's tags.
Result<std::vector<std::string>> change_tags(Connection& connection, RunId run,
                                             const std::vector<std::string>& add,
                                             const std::vector<std::string>& remove);
Result<> trash_run(Connection& connection, RunId run);
Result<> restore_run(Connection& connection, RunId run);
Result<> remove_run(Connection& connection, RunId run);

/// `prefix` is "recipe.", "environment." or "results.".
void set_facts(Connection& connection, RunId run, const std::string& prefix, const Values& values);
void add_line(Connection& connection, RunId run, const LogLine& line);

}  // namespace heddle::storage
