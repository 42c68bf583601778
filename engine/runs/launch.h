// The parameters of a run on one host, and what a rank process is given. No LibTorch here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::runs {

/// The run that a run goes on from.
struct Ancestry {
  std::string kind;    // resume | fork; empty: a new run
  std::string parent;  // its name
  int64_t step = 0;    // the checkpoint's
  bool operator==(const Ancestry&) const = default;
};

/// `launch.json` in the run directory: everything a host needs to run its share of the ranks.
struct Launch {
  std::string run;               // name, [A-Za-z0-9._-]{1,64}
  std::string mode = "planned";  // planned | eager | calibrate (no recipe: the ranks measure)
  std::string graph_file;        // train from an edited text graph; empty: capture
  std::string eval_to;  // `eval`: write logits, loss and gradients of the first batch here instead
                        // of training
  int32_t world_size = 1;
  int32_t first_rank = 0;  // this host runs ranks [first_rank, first_rank + local_ranks)
  int32_t local_ranks = 1;
  int32_t epoch = 0;                          // attempt
  std::string rendezvous_host = "127.0.0.1";  // address of rank 0's host as the others reach it
  uint16_t rendezvous_port = 0;               // 0: rank 0's host picks one (single host only)
  bool public_addresses = false;              // ranks may listen where the internet reaches them
  double grace_seconds = 60;                  // from SIGTERM to SIGKILL: a step and a checkpoint
  /// Checkpoints of another run to begin with, on this host: the first that is whole is taken,
  /// unless the run has checkpoints of its own already.
  std::vector<std::string> begin_with;
  Ancestry ancestry;
  std::string device_choice;  // the device that "auto" chose and why, for the log
  int32_t restarts = 0;       // how often the ranks were started again after a failure
  std::string restart_cause;  // the last such failure
};

/// Whether its ranks train, rather than measure or evaluate.
inline bool trains(const Launch& launch) {
  return launch.mode != "calibrate" && launch.eval_to.empty();
}

Result<Launch> read_launch(const std::string& run_dir);
Result<> write_launch(const std::string& run_dir, const Launch& launch);
/// The file's content: for a run directory on another host.
Result<std::string> launch_text(const Launch& launch);

/// A rank process's place in the run. Made by the launcher, handed on as arguments of the
/// hidden subcommand `heddle-engine rank`.
struct RankContext {
  std::string run_dir;
  Launch launch;
  int32_t rank = 0;
  int32_t local_rank = 0;
  int listen_fd = -1;   // rank 0 of several hosts: listens for the others, else -1
  int32_t attempt = 0;  // how often this supervisor started the ranks before
  int word_fd = -1;     // where it tells its supervisor how far it is (last_word.h); -1: nowhere
  uint16_t port = 0;    // the rendezvous port in use; 0 where all ranks are of this host
  double spawned_at =
      0;  // Unix seconds when `train` or the supervisor began, for first_step_seconds
};

}  // namespace heddle::runs
