#include "gui/views/launch/launch_steps.h"

namespace heddle::gui {

bool LaunchSteps::tell(const QString& what, uint64_t done, uint64_t total) {
  {
    const std::lock_guard lock(mutex_);
    if (steps_.empty() || steps_.back().what != what) {
      if (!steps_.empty()) steps_.back().state = LaunchStep::State::done;
      steps_.emplace_back().what = what;
    }
    steps_.back().doneBytes = done;
    steps_.back().totalBytes = total;
  }
  changed();
  return !cancelled_;
}

void LaunchSteps::fail(const QString& error) {
  {
    const std::lock_guard lock(mutex_);
    if (steps_.empty()) return;
    steps_.back().state = LaunchStep::State::failed;
    steps_.back().error = error;
  }
  changed();
}

void LaunchSteps::finish() {
  {
    const std::lock_guard lock(mutex_);
    if (!steps_.empty()) steps_.back().state = LaunchStep::State::done;
  }
  changed();
}

std::vector<LaunchStep> LaunchSteps::steps() {
  const std::lock_guard lock(mutex_);
  told_ = false;
  return steps_;
}

void LaunchSteps::changed() {
  {
    const std::lock_guard lock(mutex_);
    if (told_) return;
    told_ = true;
  }
  changed_();
}

}  // namespace heddle::gui
