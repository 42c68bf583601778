// `heddle-engine train`: the ranks of this machine under the eyes of the one who started them.
#pragma once

#include <cstdint>
#include <string>

#include "engine/launch/teller.h"

namespace heddle::launch {

struct TrainOptions {
  std::string recipe_text;  // valid TOML, paths absolute: written as recipe.toml
  std::string run_dir;      // empty: a temporary one under $TMPDIR, removed afterwards
  int32_t ranks = 1;
  std::string mode = "planned";  // planned | eager
  std::string graph_file;        // absolute; empty: capture
  std::string eval_to;           // absolute; empty: train
  std::string engine;            // empty: engine_program()
  Tell tell = Tell::quiet;
  int64_t steps = 0;              // of the whole run; 0: not known
  bool keeps_checkpoints = true;  // outside a temporary run directory
  double spawned_at = 0;          // Unix seconds when the command began; 0: now
};

/// Runs to the end: what happens as `tell` says, results.json's line last on stdout, the failing
/// rank's own lines on stderr. SIGINT and SIGTERM stop the ranks after the next step, a second one
/// kills them. Returns the exit code.
int run_foreground(const TrainOptions& options);

}  // namespace heddle::launch
