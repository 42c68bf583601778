// A step's device beyond operators: when its work happened, and the whole step as one launch.
// engine/cuda has the GPU's.
//
// Thread contract: the executor's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "base/result.h"

namespace heddle::runtime {

/// Microseconds since the step began.
struct Interval {
  int64_t begin_us, end_us;
};

/// A recorded step; it stays at the addresses that it was recorded with.
class RecordedStep {
 public:
  virtual ~RecordedStep() = default;
  /// Puts all of its work in line. Throws c10::Error.
  virtual void launch() = 0;
};

/// A block of the device's memory that this process holds: who has it, its bytes, and those in use.
struct DeviceBlock {
  std::string holder;
  int64_t bytes, used;
};

class DeviceRun {
 public:
  virtual ~DeviceRun() = default;

  /// A step of so many instructions begins whose work is timed.
  virtual void begin_times(size_t instructions) = 0;
  /// Around the call of an operator.
  virtual void before(size_t instruction) = 0;
  virtual void after(size_t instruction) = 0;
  /// The next collective is this instruction's; it is going to be, and has been, waited for.
  virtual void starting(size_t instruction) = 0;
  virtual void waits(size_t) {}
  virtual void waited(size_t instruction, const c10d::Work& work) = 0;
  /// When an operator or a collective ran, once finish() has returned; nothing if it did not end in
  /// the timed step.
  virtual std::optional<Interval> interval(size_t instruction) const = 0;
  /// When the operators stood still for a collective that had not begun: not all ranks had come.
  /// Nothing where they did not, or where the device counts it as the collective's own time.
  virtual std::optional<Interval> waiting(size_t) const { return std::nullopt; }

  /// Whether steps can be recorded here at all.
  virtual bool records() const { return false; }
  /// Calls `step`, whose work is recorded instead of done. The error, the same kind on all ranks,
  /// says why it cannot be; then the device is as it was. Throws c10::Error where not all ranks can
  /// tell in time.
  virtual Result<std::unique_ptr<RecordedStep>> record(const std::function<void()>& step);

  /// Makes memory known to the transports, which then read and write it without a copy between, as
  /// long as this lives: not longer than the memory. The error says why they do not.
  virtual Result<> register_memory(void*, size_t) { return {}; }

  /// A step has failed on this rank: ends what it has left under way for which other ranks may
  /// never come.
  virtual void give_up() {}

  /// Marks the end of what has been put in line, by one of two marks.
  virtual void mark(size_t) {}
  /// Returns when all that was put in line before the mark is done. Throws c10::Error if a
  /// collective has failed.
  virtual void wait_for(size_t) {}
  /// The same of all that has been put in line.
  void finish() {
    mark(0);
    wait_for(0);
  }

  /// The bytes of the device's memory that this process has in use. Cheap: between operators of a
  /// timed step.
  virtual int64_t bytes_in_use() const = 0;
  /// The most bytes of the device's memory that this process has had in use.
  virtual int64_t peak_bytes() const = 0;
  /// With what the allocator has held besides.
  virtual int64_t peak_reserved_bytes() const { return peak_bytes(); }

  /// All that it holds now; nothing of a CPU.
  virtual std::vector<DeviceBlock> blocks() const { return {}; }

  /// A GPU's name as its driver gives it; empty for a CPU.
  virtual std::string name() const { return {}; }
};

/// For a CPU, where work is done when its call returns.
std::unique_ptr<DeviceRun> make_cpu_run();

}  // namespace heddle::runtime
