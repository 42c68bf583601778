// `heddle-engine supervise`: owns a run's ranks on a host, detached from whoever started it.
#pragma once

#include <string>

namespace heddle::launch {

enum class SuperviseAction { start, status, checkpoint, stop, kill };

struct SuperviseOptions {
  std::string run_dir;  // with launch.json and recipe.toml in it
  SuperviseAction action = SuperviseAction::start;
  std::string checkpoint_name;   // checkpoint: kept for good under this name; empty: as any other
  bool secret_on_stdin = false;  // start: the run's secret is the first line of stdin
  bool attached = false;         // start: stays in the foreground, as a task of a batch system
  /// Attached, of several hosts: the run directory of rank 0's host, on a file system that they
  /// share. Its state.json has the rendezvous' port.
  std::string first_run_dir;
  std::string rendezvous_host;  // the address of rank 0's host
  std::string engine;           // empty: engine_program()
};

/// Prints the run's status as one line of JSON (run_files.h) and returns 0, or an error on stderr
/// and 1. start: detaches a supervisor (own session, standard streams closed to files) and returns
/// when it has
///   started the ranks; refuses a directory that has a running one. Call it before any thread
///   exists. Attached: it returns when the ranks have ended, with the exit code of `train`.
/// checkpoint: SIGUSR1 to the supervisor, which hands it on: the ranks save after the next step.
/// stop: SIGTERM to the supervisor, which gives the ranks their grace. kill: SIGQUIT, no grace.
int supervise(const SuperviseOptions& options);

}  // namespace heddle::launch
