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
  std::string engine;            // empty: engine_program()
};

/// Prints the run's status as one line of JSON (run_files.h) and returns 0, or an error on stderr
/// and 1. start: detaches a supervisor (own session, standard streams closed to files) and returns
/// when it has
///   started the ranks; refuses a directory that has a running one. Call it before any thread
///   exists.
/// checkpoint: SIGUSR1 to the supervisor, which hands it on: the ranks save after the next step.
/// stop: SIGTERM to the supervisor, which gives the ranks their grace. kill: SIGQUIT, no grace.
int supervise(const SuperviseOptions& options);

}  // namespace heddle::launch
