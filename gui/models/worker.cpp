#include "gui/models/worker.h"

#include "base/guard.h"

namespace heddle::gui {

Worker::Worker(int threads, AtEnd atEnd) : atEnd_(atEnd) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { loop(); });
}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Worker::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void Worker::loop() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (stopping_ && (tasks_.empty() || atEnd_ == AtEnd::drop)) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    const Result<> done = caught([&]() -> Result<> {
      task();
      return {};
    });
    if (!done) say(stderr, "heddle: {}\n", done.error().message);
  }
}

}  // namespace heddle::gui
