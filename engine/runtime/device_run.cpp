#include "engine/runtime/device_run.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/resident_memory.h"
#include "engine/transport/timed_work.h"

namespace heddle::runtime {
namespace {

class CpuRun final : public DeviceRun {
 public:
  void begin_times(size_t instructions) override {
    begin_ = Clock::now();
    intervals_.assign(instructions, std::nullopt);
    waiting_.assign(instructions, std::nullopt);
  }
  void before(size_t instruction) override { intervals_[instruction] = {at_us(Clock::now()), 0}; }
  void after(size_t instruction) override { intervals_[instruction]->end_us = at_us(Clock::now()); }
  void starting(size_t) override {}
  void waits(size_t instruction) override { waiting_[instruction] = {at_us(Clock::now()), 0}; }
  void waited(size_t instruction, const c10d::Work& work) override {
    const auto* timed = dynamic_cast<const transport::TimedWork*>(&work);
    if (!timed) return;
    // Work of the step before may have begun, and ended, before this one.
    const auto at = [&](Clock::time_point time) { return std::max<int64_t>(0, at_us(time)); };
    intervals_[instruction] = {at(timed->began()), at(timed->ended())};
    if (waiting_[instruction]) waiting_[instruction]->end_us = at(timed->began());
  }
  std::optional<Interval> interval(size_t instruction) const override {
    return intervals_[instruction];
  }
  std::optional<Interval> waiting(size_t instruction) const override {
    const std::optional<Interval>& waited = waiting_[instruction];
    return waited && waited->end_us > waited->begin_us ? waited : std::nullopt;
  }
  int64_t bytes_in_use() const override { return resident_.bytes(); }
  int64_t peak_bytes() const override { return peak_resident_bytes(); }

 private:
  using Clock = transport::TimedWork::Clock;
  int64_t at_us(Clock::time_point time) const {
    return std::chrono::duration_cast<std::chrono::microseconds>(time - begin_).count();
  }

  ResidentMemory resident_;
  Clock::time_point begin_;
  std::vector<std::optional<Interval>> intervals_, waiting_;
};

}  // namespace

Result<std::unique_ptr<RecordedStep>> DeviceRun::record(const std::function<void()>&) {
  return fail("this device does not record steps");
}

std::unique_ptr<DeviceRun> make_cpu_run() { return std::make_unique<CpuRun>(); }

}  // namespace heddle::runtime
