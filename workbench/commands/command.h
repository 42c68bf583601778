// The commands, each a file of its own, and what they share. Each prints its results to stdout and
// its errors to stderr, and returns the exit code. How the words of a command line become options:
// run_command.cpp.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "remote/target.h"
#include "storage/queries.h"
#include "storage/run.h"
#include "storage/writer.h"
#include "workbench/backend.h"

namespace heddle::workbench {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitStopped = 130;

struct Context {
  std::string store;
};

struct LaunchOptions {
  std::string recipe;
  std::string target;                // empty: this machine, or the resumed or forked run's
  std::string resume;                // a run's name or id
  std::string fork;                  // RUN or RUN@STEP
  std::vector<std::string> without;  // hosts that the resumed or forked run goes on without
  std::string reproduce;             // a run's name or id
  std::vector<std::string> sets;     // "key=value"
  std::string name;                  // empty: the recipe's
  std::string mode = "planned";      // planned | eager
  std::string sweep;                 // grid | random:N | random:N:SEED; empty: as --set says
  bool queue = false;                // wait until nothing is going on on the target
  int at_once = 1;                   // runs of the queue
  std::string halving;               // METRIC:KEEP[@STEP,STEP...]
  bool check = false;                // only the preflight
  bool wait = false;
};

struct StopOptions {
  std::string run;
  bool kill = false;
  bool discard = false;  // even where that loses what was trained
};

/// For hold, release and change of a run that waits in a batch system's queue.
struct JobOptions {
  std::string run;
  JobChange change;
};

struct QueueOptions {
  std::string first;  // a run's name or id
  bool work = false;
  bool json = false;
};

struct RunsOptions {
  std::string filter;   // see run_filter.h
  std::string sort;     // "loss,-created"
  std::string columns;  // "lr,best(loss)"; empty: the usual ones
  std::string group;    // "lr,seed": one key or two; empty: one line per run
  size_t limit = 0;     // 0: all
  bool trash = false;
  bool archived = false;
  bool json = false;
  bool csv = false;
};

struct TagOptions {
  std::string run;
  std::vector<std::string> add;     // "+TAG"
  std::vector<std::string> remove;  // "TAG"
};

/// For star and archive.
struct MarkOptions {
  std::vector<std::string> runs;
  bool undo = false;
};

struct SqlOptions {
  std::string statement;
  bool json = false;
  bool csv = false;
};

struct ShowOptions {
  std::string run;
  bool json = false;
};

struct CompareOptions {
  std::vector<std::string> runs;
  bool json = false;
  std::string report;  // a file to write instead; empty: none
};

struct ExportOptions {
  std::string run;
  std::string folder;
  bool weights = false;
};

struct AddTargetOptions {
  std::string name;
  std::vector<std::string> hosts;  // "[user@]host[:port]", or a name of ~/.ssh/config
  std::vector<std::string> spares;
  std::string jump;
  std::string identity_file;
  std::string root;
  std::string data_root;
  std::string prelude;                     // a file of this machine
  std::string container;                   // "apptainer:IMAGE", "pyxis:IMAGE"
  std::vector<std::string> accepted_keys;  // fingerprints
  bool replace = false;                    // a target of that name
  bool public_addresses = false;
  remote::JobRequest job;  // without a system: runs are no jobs
};

struct RemoveTargetOptions {
  std::string name;
  bool purge = false;
};

int launch_command(const Context& context, const LaunchOptions& options);
int queue_command(const Context& context, const QueueOptions& options);
int change_job_command(const Context& context, const JobOptions& options);
int stop_command(const Context& context, const StopOptions& options);
int tail_command(const Context& context, const std::string& run);
int remove_command(const Context& context, const std::string& run);
int restore_command(const Context& context, const std::string& run);
int trust_command(const Context& context);
int import_command(const Context& context, const std::vector<std::string>& paths,
                   const std::string& filter);
int runs_command(const Context& context, const RunsOptions& options);
int sql_command(const Context& context, const SqlOptions& options);
int tag_command(const Context& context, const TagOptions& options);
int rename_command(const Context& context, const std::string& run, const std::string& name);
int note_command(const Context& context, const std::string& run, const std::string& text);
int star_command(const Context& context, const MarkOptions& options);
int archive_command(const Context& context, const MarkOptions& options);
int show_command(const Context& context, const ShowOptions& options);
int compare_command(const Context& context, const CompareOptions& options);
int export_command(const Context& context, const ExportOptions& options);
int list_targets_command(const Context& context);
int add_target_command(const Context& context, const AddTargetOptions& options);
int probe_target_command(const Context& context, const std::string& target);
int remove_target_command(const Context& context, const RemoveTargetOptions& options);
int demo_command(const Context& context);

/// Prints the message to stderr; gives `exit_code`.
int report(const Error& error, int exit_code = kExitFailed);

/// Says on stderr that a store cannot be written to, where that is so.
void note_unwritable(const Context& context);

/// A run of the store by its name or id; one in the trash with `trash_too` only. Not to be found is
/// bad usage: `kExitUsage`, whichever command it is.
Result<storage::RunDetail> find_run(storage::Reader& reader, const std::string& name_or_id,
                                    bool trash_too = false);

/// "resume of debug after step 30"; empty: the run continues none.
std::string lineage_text(const storage::RunSummary& run);

/// `work(storage::Reader&)` returns a Result<int>, the exit code; errors are printed.
template <typename Work>
int with_reader(const Context& context, Work work) {
  Result<storage::Reader> reader = storage::Reader::open(context.store);
  if (!reader) return report(reader.error());
  note_unwritable(context);
  const Result<int> exit_code = work(*reader);
  return exit_code ? *exit_code : report(exit_code.error());
}

/// The same for a command of one run: `work(storage::Reader&, const storage::RunDetail&)`.
template <typename Work>
int with_run(const Context& context, const std::string& name_or_id, Work work,
             bool trash_too = false) {
  return with_reader(context, [&](storage::Reader& reader) -> Result<int> {
    const Result<storage::RunDetail> run = find_run(reader, name_or_id, trash_too);
    if (!run) return report(run.error(), kExitUsage);
    return work(reader, *run);
  });
}

}  // namespace heddle::workbench
