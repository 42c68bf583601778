// Runs a program, step by step.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

#include "engine/runtime/device_run.h"
#include "engine/runtime/host_side.h"
#include "engine/runtime/program.h"
#include "engine/runtime/replay_policy.h"
#include "engine/runtime/timeline.h"

namespace heddle::runtime {

/// One thread. Collectives of the step after may be under way between two steps.
class Executor {
 public:
  /// `device` is where the program's tensors lie.
  explicit Executor(Program program, std::unique_ptr<DeviceRun> device = make_cpu_run());
  Executor(Executor&&) = default;
  /// Waits for what is under way.
  ~Executor();
  /// Registers memory of its transports' device, which outlives this, and its arena's memory.
  Result<> register_memory(const Arena& states);

  /// One step. `micro_batches` holds the inputs of each forward and backward, `step_inputs` those
  /// that stay the same in all of them. Returns the graph's outputs, which the next step
  /// overwrites. With a timeline, every instruction leaves a span. Throws c10::Error as operators
  /// do.
  const NamedTensors& run(const std::vector<NamedTensors>& micro_batches,
                          const NamedTensors& step_inputs, Timeline* timeline = nullptr);

  /// The same in two parts: puts a step in line; waits for the oldest one that has been put there
  /// and returns its outputs, all of them numbers, on the host, until `ahead()` steps more have
  /// been put in line. The timeline is filled by then. Until all are done nothing else is called.
  void launch(const std::vector<NamedTensors>& micro_batches, const NamedTensors& step_inputs,
              Timeline* timeline);
  const NamedTensors& finish();
  /// How many steps may be under way when another is put in line; none but those that neither are
  /// timed.
  int64_t ahead() const { return replays() ? 1 : 0; }
  /// Whether steps are one launch each from here on.
  bool replays() const { return policy_.replays(); }

  /// Arena::join_pages of its arena.
  void join_pages() { program_.arena->join_pages(); }

  /// Waits for what is under way: until the next step another executor may use the arena, which the
  /// two share.
  void lend_arena();

  /// Runs the step again, except for its updates, and names the first module and operator whose
  /// result on this rank is not finite, as "layers.3.attention (mm, backward)"; empty if what is
  /// not finite came from another rank. All ranks call it together.
  std::string first_non_finite(const std::vector<NamedTensors>& micro_batches,
                               const NamedTensors& step_inputs);

  /// Called in each step before the optimizer changes a state: until then all are as after the step
  /// before. Not in a step that is replayed from a recording.
  void set_before_update(std::function<void()> before) { before_update_ = std::move(before); }

  const Program& program() const { return program_; }
  const DeviceRun& device() const { return *device_; }

  /// Notes for the log on how steps are run; each appears once.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }

  /// Bytes that operators of the last step allocated beyond the plan, and bytes of results that
  /// had to be copied to their place. Both are 0 from the second step on, if the plan is right.
  int64_t outside_bytes() const { return outside_bytes_; }
  int64_t misplaced_bytes() const { return misplaced_bytes_; }
  /// Collectives that the last step started, and the bytes of their whole tensors.
  int64_t collectives() const { return collectives_; }
  int64_t collective_bytes() const { return collective_bytes_; }

 private:
  // A step that has been put in line; `side` is also the mark after it.
  struct Launched {
    size_t side = 0;
    Timeline* timeline = nullptr;
  };
  void feed(const std::vector<NamedTensors>& micro_batches, const NamedTensors& step_inputs,
            const HostSide& side);
  Launched put_in_line(const std::vector<NamedTensors>& micro_batches,
                       const NamedTensors& step_inputs, Timeline* timeline, bool fetches);
  void wait_for(const Launched& step);
  // A step, by its instructions, or as one launch.
  void begin_anew(bool timed);
  void run_instructions(bool timed);
  void replay(bool timed);
  bool record(bool timed);
  void execute(size_t index, bool timed);
  void call(Call& call);
  void look_for_non_finite(const Instruction& instruction);
  struct Misplaced {
    size_t result;
    at::Tensor made;
  };
  void put_in_place(Call& call, std::vector<Allocation> allocations,
                    std::vector<Misplaced>& misplaced);
  void start(const Start& start, const graph::Node& node, size_t index);
  void wait(size_t slot, const graph::Node& node, bool timed);
  void join(bool timed);
  void sample_memory(size_t instruction);
  void add_spans(Timeline& timeline);

  // A collective under way, or one that has been waited for ahead of its Wait.
  struct UnderWay {
    c10::intrusive_ptr<c10d::Work> work;
    size_t instruction = 0;
    bool joined = false;
  };

  Program program_;
  std::unique_ptr<DeviceRun> device_;  // goes before the memory that it knows
  std::array<HostSide, 2> sides_;      // in turn
  size_t side_ = 0;                    // the next one
  std::deque<Launched> launched_;
  ReplayPolicy policy_;
  std::array<std::unique_ptr<RecordedStep>, 2> recorded_;  // without times, with them
  std::vector<std::string> warnings_;
  std::function<void()> before_update_;
  std::vector<UnderWay> under_way_;  // by slot
  bool anew_ = true;                 // nothing is under way for the next step
  int64_t outside_bytes_ = 0, misplaced_bytes_ = 0;
  int64_t collectives_ = 0, collective_bytes_ = 0;
  std::vector<MemorySample> memory_;       // of a timed step
  std::optional<std::string> non_finite_;  // while looking for it: what was found
  bool looking_ = false;
};

}  // namespace heddle::runtime
