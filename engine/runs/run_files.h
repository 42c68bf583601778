// The supervisor's files in the run directory: state.json while it runs, end.json when it has
// ended; and the run's state as the two together show it. Both are replaced atomically (write,
// fsync, rename).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/new_file.h"
#include "base/process_id.h"
#include "base/result.h"

namespace heddle::runs {

/// Largest size of such a file: a host has some hundreds of ranks at most.
inline constexpr Budget kRunFile{.bytes = size_t{1} << 20, .values = 100'000, .depth = 8};

/// state.json: `{pid, start_time, boot_id, epoch, port, ranks: [{rank, pid, start_time}]}`.
struct State {
  ProcessId supervisor;
  std::string boot_id;
  int32_t epoch = 0;
  uint16_t port = 0;  // of the rendezvous; other hosts' ranks are given it
  struct Rank {
    int32_t rank = 0;
    ProcessId process;
  };
  std::vector<Rank> ranks;
};

/// end.json: `{state, exit_code, cause, rank, signal, finished, signature}`.
struct End {
  std::string state = {};      // done | failed | stopped
  int exit_code = 0;           // of `train`: 0, 1, 2 or 130
  std::string cause = {};      // empty when done
  int32_t rank = -1;           // the first that failed, -1: none
  std::string signal = {};     // that killed it, as "SIGKILL"; empty: it exited by itself
  double finished = 0;         // Unix seconds
  std::string signature = {};  // end_proof.h; empty: nobody has the key
};

nlohmann::json to_json(const State& state);
nlohmann::json to_json(const End& end);
Result<State> state_from_json(const nlohmann::json& json);
Result<End> end_from_json(const nlohmann::json& json);

Result<> write_state(const std::string& run_dir, const State& state);
Result<> write_end(const std::string& run_dir, const End& end);
/// Into the room that was reserved for them.
Result<> write_state(NewFile room, const std::string& run_dir, const State& state);
Result<> write_end(NewFile room, const std::string& run_dir, const End& end);
/// RUN_DIR/state.json, RUN_DIR/end.json
std::string state_file(const std::string& run_dir);
std::string end_file(const std::string& run_dir);
/// None when the file is not there (yet).
Result<std::optional<State>> read_state(const std::string& run_dir);
Result<std::optional<End>> read_end(const std::string& run_dir);

/// A run's state by its directory on this host. `running`: its supervisor lives, whatever
/// else the directory says. `lost`: the supervisor is gone (its pid, start time and boot id do not
/// match, or the process is not of the user who wrote state.json) and left no end.json that can be
/// read.
enum class Condition { absent, running, ended, lost };

struct Status {
  Condition condition = Condition::absent;
  std::optional<State> state;
  std::optional<End> end;
  bool stopped = false;  // the supervisor lives, but somebody has stopped it (SIGSTOP)
};

Result<Status> read_status(const std::string& run_dir);

/// `{condition: absent|running|ended|lost, stopped, state: {…}|null, end: {…}|null}`: what
/// `heddle-engine supervise` prints.
nlohmann::json to_json(const Status& status);
Result<Status> status_from_json(const nlohmann::json& json);

/// A file of the run directory: the name of the checkpoint that SIGUSR1 asks for. Absent: none.
std::string checkpoint_name_file(const std::string& run_dir);

}  // namespace heddle::runs
