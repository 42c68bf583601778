// Which steps are run instruction by instruction, which are recorded, and which replayed.
#pragma once

#include <array>
#include <string>

namespace heddle::runtime {

/// Replay begins when a few steps have warmed up what a recording must find in place: results at
/// their addresses, connections between ranks, workspaces and plans of libraries. A step whose work
/// is timed is another recording than one whose work is not.
class ReplayPolicy {
 public:
  enum class How { run, record, replay };
  static constexpr int kWarmUpSteps = 3;

  explicit ReplayPolicy(bool device_records) : possible_(device_records) {}

  How next(bool timed) const {
    if (!possible_ || ran_ < kWarmUpSteps) return How::run;
    return recorded_[timed] ? How::replay : How::record;
  }

  /// Whether a step whose work is not timed is one launch from here on.
  bool replays() const { return possible_ && recorded_[false]; }

  void ran() { ran_ += ran_ < kWarmUpSteps; }
  void recorded(bool timed) { recorded_[timed] = true; }
  /// From here on every step is run. Returns what the log should say.
  std::string failed(const std::string& why) {
    possible_ = false;
    return "steps are launched operator by operator, which costs time: they cannot be recorded (" +
           why + ")";
  }

 private:
  bool possible_;
  int ran_ = 0;
  std::array<bool, 2> recorded_{};  // without times, with them
};

}  // namespace heddle::runtime
