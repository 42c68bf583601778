#include "engine/train/speed_now.h"

#include <chrono>
#include <future>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/host_name.h"
#include "engine/cost/rates.h"
#include "engine/launch/process.h"

namespace heddle::train {
namespace {

class Measured {
 public:
  cost::MachineSpeed speed() {
    const std::lock_guard lock(mutex_);
    if (next_.valid() && next_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
      keep(next_.get());
    if (!speed_) keep(cost::measure_machine_speed());
    if (!next_.valid() && seconds_since(time_) > kSecondsToHold)
      next_ = std::async(std::launch::async, cost::measure_machine_speed);
    return *speed_;
  }

 private:
  static constexpr double kSecondsToHold = 300;

  void keep(const cost::MachineSpeed& speed) {
    speed_ = speed;
    time_ = Clock::now();
  }

  std::mutex mutex_;
  std::optional<cost::MachineSpeed> speed_;
  Clock::time_point time_;
  std::future<cost::MachineSpeed> next_;
};

}  // namespace

std::string speed_now() {
  const auto kept = cost::read_calibrations(cost::calibration_file());
  if (!kept) return {};  // rates say so
  const cost::Calibration* newest = cost::newest(*kept, host_name());
  if (!newest) return {};
  static Measured measured;
  return cost::speed_remark(*newest, measured.speed(), launch::now());
}

}  // namespace heddle::train
