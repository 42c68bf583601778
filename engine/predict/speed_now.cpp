#include "engine/predict/speed_now.h"

#include <chrono>
#include <future>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/host_name.h"
#include "engine/cost/rates.h"

namespace heddle::predict {
namespace {

class Measured {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    take(std::chrono::seconds(0));
    if (next_.valid() || (speed_ && seconds_since(time_) < kSecondsToHold)) return;
    next_ = std::async(std::launch::async, cost::measure_machine_speed);
  }

  void await() {
    const std::lock_guard lock(mutex_);
    take(std::chrono::hours(1));
  }

  std::optional<cost::MachineSpeed> last() {
    const std::lock_guard lock(mutex_);
    take(std::chrono::seconds(0));
    return speed_;
  }

 private:
  static constexpr double kSecondsToHold = 60;

  void take(std::chrono::seconds patience) {
    if (!next_.valid() || next_.wait_for(patience) != std::future_status::ready) return;
    speed_ = next_.get();
    time_ = Clock::now();
  }

  std::mutex mutex_;
  std::optional<cost::MachineSpeed> speed_;
  Clock::time_point time_;
  std::future<cost::MachineSpeed> next_;
};

Measured& measured() {
  static Measured one;
  return one;
}

/// Rates say why there is none.
std::optional<cost::Calibration> calibration_here() {
  const auto kept = cost::read_calibrations(cost::calibration_file());
  const cost::Calibration* newest = kept ? cost::newest(*kept, host_name()) : nullptr;
  return newest ? std::optional(*newest) : std::nullopt;
}

}  // namespace

void measure_speed() {
  if (calibration_here()) measured().begin();
}

void await_speed() { measured().await(); }

SpeedNow speed_now() {
  const auto last = measured().last();
  const auto calibration = last ? calibration_here() : std::nullopt;
  if (!calibration) return {};
  return {cost::busy_words(*last), cost::speed_remark(*calibration, *last, unix_now())};
}

}  // namespace heddle::predict
