// The steps of one launch as they happen: what is done, what is under way and how far, where it
// failed.
#pragma once

#include <QString>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace heddle::gui {

struct LaunchStep {
  enum class State { underWay, done, failed };
  QString what;  // "bringing the engine to node-1"
  State state = State::underWay;
  uint64_t doneBytes = 0;
  uint64_t totalBytes = 0;  // 0: not counted in bytes
  QString error;            // of a failed step: what and what to do
};

/// The steps of a launch. `tell` may be called from the launching thread, `steps` from any.
class LaunchSteps {
 public:
  /// `changed` is called from the launching thread, not again before `steps` was asked for.
  explicit LaunchSteps(std::function<void()> changed) : changed_(std::move(changed)) {}

  /// A new `what` begins the next step. False: the launch was cancelled.
  bool tell(const QString& what, uint64_t done = 0, uint64_t total = 0);
  void fail(const QString& error);
  void finish();
  void cancel() { cancelled_ = true; }

  std::vector<LaunchStep> steps();

 private:
  void changed();

  std::mutex mutex_;
  std::vector<LaunchStep> steps_;
  std::function<void()> changed_;
  std::atomic<bool> cancelled_ = false;
  bool told_ = false;
};

}  // namespace heddle::gui
