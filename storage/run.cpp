#include "storage/run.h"

#include <fmt/format.h>

#include "base/number_text.h"

namespace heddle::storage {

std::string to_string(RunState state) {
  constexpr const char* kNames[] = {"queued", "preparing", "waiting", "running",
                                    "done",   "failed",    "stopped", "lost"};
  return kNames[static_cast<size_t>(state)];
}

std::optional<RunState> run_state(const std::string& name) {
  for (const RunState state :
       {RunState::queued, RunState::preparing, RunState::waiting, RunState::running, RunState::done,
        RunState::failed, RunState::stopped, RunState::lost}) {
    if (to_string(state) == name) return state;
  }
  return std::nullopt;
}

std::string to_string(Lineage::Kind kind) {
  return kind == Lineage::Kind::resume ? "resume" : "fork";
}

std::optional<Lineage::Kind> lineage_kind(const std::string& name) {
  for (const Lineage::Kind kind : {Lineage::Kind::resume, Lineage::Kind::fork})
    if (to_string(kind) == name) return kind;
  return std::nullopt;
}

std::string words_of(const Lineage& lineage) {
  return fmt::format("{} of {} after step {}", to_string(lineage.kind), lineage.parent_name,
                     count_text(static_cast<double>(lineage.step)));
}

}  // namespace heddle::storage
