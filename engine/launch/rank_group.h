// This host's ranks of a run as processes: started together, watched, and gone together.
//
// A rank is `ENGINE rank …` (rank_arguments.h) in a process group of its own, at nice 10, with
// OMP_NUM_THREADS = cores / local ranks unless that is set, stdout and stderr appended to
// rank-R.err. It dies with its parent (PR_SET_PDEATHSIG). Exit codes: 0 done, 1 failed, 2 bad usage
// or recipe, 130 stopped. When one fails, the others get SIGTERM, and SIGKILL after the grace.
//
// Thread contract: one thread makes, starts and runs a group. `run` takes SIGCHLD, SIGTERM, SIGINT
// and SIGQUIT of this process for itself, so they must be blocked in every other thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/launch/launch.h"
#include "engine/launch/run_files.h"

namespace heddle::launch {

class RankGroup {
 public:
  /// `engine`: the program; `log` is told of starts, deaths and kills, one line each.
  RankGroup(std::string engine, std::string run_dir, Launch launch, double spawned_at,
            std::function<void(bool error, const std::string&)> log);
  /// Kills what is left.
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  /// Opens the rendezvous where rank 0 is ours, and starts the ranks.
  Result<> start();

  /// Waits until every rank is gone. SIGTERM and SIGINT ask the ranks to stop (a second one kills
  /// them), SIGQUIT kills them. The end names the first rank that failed and its last line.
  End run();

  uint16_t port() const { return launch_.rendezvous_port; }
  std::vector<State::Rank> ranks() const;
  /// What a rank has written to rank-R.err since `start`, at most the last 64 KiB.
  std::string output_of(int32_t rank) const;

 private:
  struct Process {
    int32_t rank = 0;
    pid_t pid = 0;
    ProcessId id;
    bool running = false;
    int status = 0;           // as waitpid gives it
    int64_t output_from = 0;  // size of rank-R.err before this start
  };

  Result<int> open_rendezvous();
  Result<pid_t> spawn(const RankContext& context, int output);
  void signal_running(int signal);
  void begin_stop(double now);
  /// Reaps what has died; the one that counts as first failing, if any.
  const Process* reap();
  End end_of(const Process& failed) const;
  End end_without_failure() const;

  std::string engine_;
  std::string run_dir_;
  Launch launch_;
  double spawned_at_;
  std::function<void(bool, const std::string&)> log_;
  std::vector<Process> processes_;
  bool stop_asked_ = false;  // by a user
  bool terminated_ = false;  // SIGTERM was sent
  bool killed_ = false;      // SIGKILL was sent
  double kill_at_ = 0;       // Unix seconds, once terminated_
};

}  // namespace heddle::launch
