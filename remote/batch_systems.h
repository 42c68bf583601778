// The batch systems that may start a target's runs as jobs, a row each: the words that people see,
// and the fields of a job. The target's JSON, `heddle targets add`, the window's dialog and its
// list of facts loop over them; each backend makes its system's commands (workbench/backends).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "remote/target.h"

namespace heddle::remote {

/// A field of a job: a key of the target's JSON, an option of `heddle targets add`, a line of the
/// dialog.
struct JobField {
  using Member = std::variant<std::string JobRequest::*, int32_t JobRequest::*,
                              std::vector<std::string> JobRequest::*>;
  Member member;
  const char* key;      // "gpus_per_node": in JSON
  const char* option;   // "--gpus-per-node"; no other system has one of that name
  const char* type;     // "N": what the option takes
  const char* help;     // of the option
  const char* label;    // "GPUs a node": in the window
  const char* unset;    // there, for an empty text or the lowest number
  int32_t lowest = 0;   // of a number
  int32_t highest = 0;  // of a number
  const char* tip = "";
  bool is_always_a_fact = false;  // the window lists it though it is empty
};

struct BatchSystem {
  const char* key;      // "slurm": in JSON; `--slurm`
  const char* name;     // "Slurm"
  const char* place;    // "a Slurm cluster behind its login node"
  const char* host;     // "login node": the host that takes jobs
  const char* mark;     // the dialog's words for a host that is one
  const char* help;     // of `--slurm`
  bool has_many_nodes;  // which see the target's folder, too
  bool has_pyxis;       // containers by `pyxis:IMAGE`
  std::span<const JobField> fields;
  Result<> (*check)(const JobRequest&);  // the fields' values
};

std::span<const BatchSystem> batch_systems();

/// Nothing: there is none of that key.
const BatchSystem* batch_system(std::string_view key);

}  // namespace heddle::remote
