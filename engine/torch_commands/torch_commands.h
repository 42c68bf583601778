// The commands that need LibTorch: functions of libheddle_torch.so, which the others reach by its
// table (engine/commands/torch_library.h). Those that print return the exit code.
#pragma once

#include <cstdint>
#include <string>

#include "engine/commands/commands.h"
#include "engine/recipe/recipe.h"

namespace heddle::torch_commands {

/// `graph`: captures the step; `file` names the recipe in its text.
int graph(const recipe::Recipe& recipe, const std::string& file,
          const commands::GraphOptions& what);

/// `plan --serve`: questions on stdin, answers on stdout, a line of JSON each, until stdin ends. A
/// newer question of the same key cancels the older one.
int serve_plans();

/// `calibrate`: measures this machine with `ranks` ranks, or with the usual numbers of them (0);
/// keeps the results, and prints them as tables or as JSON.
int calibrate(int32_t ranks, bool json);

/// `calibrate --device cuda`: measures GPUs, one for each of `ranks` ranks, or all of the node (0);
/// puts an entry of what was found into the user's folder of the catalogue, and prints it.
int calibrate_gpus(int32_t ranks, bool json);

}  // namespace heddle::torch_commands
