// This host's ranks of a run as processes: started together, watched, and gone together.
//
// A rank is `ENGINE rank …` (rank_arguments.h) in a process group of its own, on CPUs at nice 10,
// with OMP_NUM_THREADS = cores / local ranks unless that is set, stdout and stderr appended to
// rank-R.err. It dies with its parent (PR_SET_PDEATHSIG). Exit codes: 0 done, 1 failed, 2 bad usage
// or recipe, 130 stopped. A code proves nothing by itself: a rank that leaves with 0 is done if it
// has said so (last_word.h) at the recipe's last step, one that leaves with 130 has stopped if it
// has said so or was asked to; else it has failed. When one fails, the others get SIGTERM, and
// SIGKILL after the grace. After two seconds the log names a rank that somebody stopped (SIGSTOP),
// and the others that wait for it. When the run directory is gone, nothing can be kept or asked any
// more: the ranks are stopped.
//
// A group starts its ranks again after a failure as often as its owner wants it (restarts.h): until
// the group is destroyed no signal is lost between two attempts.
//
// Thread contract: one thread makes, starts, runs and destroys a group. While a group exists it
// takes SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT and SIGUSR1 of this process for itself: they are
// blocked in that thread and must be blocked in every other one.
#pragma once

#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/process_id.h"
#include "base/result.h"
#include "engine/launch/flight_report.h"
#include "engine/launch/spawn.h"
#include "engine/recipe/recipe.h"
#include "engine/runs/last_word.h"
#include "engine/runs/launch.h"
#include "engine/runs/run_files.h"
#include "engine/telemetry/record.h"

namespace heddle::launch {

/// The work that the ranks are started for.
struct RanksWork {
  int64_t steps = 0;  // at which a rank is done; 0: the run trains nothing
  bool on_gpus = false;
  recipe::Restart restart = {};
  recipe::Timeouts timeouts = {};
  bool encrypts = false;  // what hosts say to each other
};

class RankGroup {
 public:
  using Log = std::function<void(telemetry::Level level, const std::string& line)>;

  /// `engine`: the program; `log` receives starts, deaths and kills.
  RankGroup(std::string engine, std::string run_dir, runs::Launch launch, RanksWork work,
            double spawned_at, Log log);
  /// Kills what is left.
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  /// Opens the rendezvous where rank 0 is ours, and starts the ranks: all, or none and an error.
  /// After run() has returned: once more.
  Result<> start();

  /// Waits until every rank is gone. SIGTERM, SIGINT and SIGHUP ask the ranks to stop (a second one
  /// kills them), SIGQUIT kills them, SIGUSR1 asks them for a checkpoint. The end names the first
  /// rank that failed and its last line.
  runs::End run();

  /// After run(): whether the failure might not repeat, and nobody has asked the run to end.
  bool may_restart() const;
  /// After run(): waits so long; true as soon as the run is asked to end.
  bool is_asked_to_end(double seconds);
  /// The end of a run that a person ended while no rank was running; `waited_after`: the failure.
  runs::End end_between_attempts(const std::string& waited_after) const;
  /// The most steps that a rank had trained whole when it ended.
  int64_t last_step() const;

  uint16_t port() const { return launch_.rendezvous_port; }
  std::vector<runs::State::Rank> ranks() const;
  /// A rank's output in rank-R.err since `start`, at most the last 64 KiB.
  std::string output_of(int32_t rank) const;
  /// The last collectives of each rank.
  std::vector<RankFlight> flights() const;

 private:
  struct Process {
    int32_t rank = 0;
    ProcessId id;
    runs::LastWord word;
    bool running = true;
    int status = 0;           // as waitpid gives it
    bool failed = false;      // has_failed, when it ended
    int64_t output_from = 0;  // size of rank-R.err before this start
    std::optional<std::chrono::steady_clock::time_point> stopped_at = {};  // by a signal, now
    int stop_signal = 0;
    bool stop_told = false;
  };

  Result<> spawn(int32_t local_rank, int listen_fd);
  void signal_running(int signal);
  void terminate(double grace_seconds);
  void kill();
  /// Kills what is left and waits until it is gone.
  void kill_and_wait();
  /// Takes note of a signal that this process was sent.
  void obey(int signal);
  /// Reaps what has died; the one that failed, if any. Takes note of who was stopped or goes on.
  const Process* reap();
  void note_stop(Process& process, int status);
  /// Whether the path of the run directory leads nowhere, or to another folder. A look that fails
  /// otherwise says nothing; the first such failure is reported.
  bool is_directory_gone();
  /// Whether state.json has been removed: a batch system, which has lost this node, starts the job
  /// again.
  bool is_superseded();
  /// Tells of ranks that have been stopped for a while.
  void tell_stopped();
  /// Seconds until there is something to do without a signal.
  double patience() const;
  /// Whether its exit was a failure, judged by the requests made to it until then.
  void await_own_signal(int rank_signal);
  bool has_failed(const Process& process) const;
  std::string how_it_ended(const Process& process) const;
  bool any_running() const;
  runs::End end_of_failed(const Process& failed) const;
  runs::End end_without_failure() const;
  runs::End end_without_directory() const;

  std::string engine_;
  std::string run_dir_;
  std::optional<struct stat> directory_;  // as it was at the start
  runs::Launch launch_;
  RanksWork work_;
  double spawned_at_;
  Log log_;
  sigset_t mask_before_;
  int32_t starts_ = 0;
  std::vector<Process> processes_;
  bool stop_asked_ = false;  // by a user
  bool kill_asked_ = false;
  bool directory_lost_ = false;
  bool state_seen_ = false;
  bool look_failed_ = false;                       // and was told
  bool terminated_ = false;                        // SIGTERM was sent
  bool killed_ = false;                            // SIGKILL was sent
  std::chrono::steady_clock::time_point kill_at_;  // once terminated_
};

}  // namespace heddle::launch
