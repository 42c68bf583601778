// Background work off the GUI thread, its results delivered on it.
#pragma once

#include <QCoreApplication>
#include <QObject>
#include <QPointer>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::gui {

/// A thread, or a few, that begin tasks in the order in which they were posted. Made and destroyed
/// on the GUI thread; the destructor waits for the tasks that have begun, and drops the others or
/// does them first.
class Worker {
 public:
  enum class AtEnd { drop, finish };

  explicit Worker(int threads = 1, AtEnd atEnd = AtEnd::drop);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(std::function<void()> task);

 private:
  void loop();

  const AtEnd atEnd_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

/// One question that is asked again and again: only the newest answer is delivered. An older task
/// that has not begun yet is skipped. Belongs to the object that receives; GUI thread only.
class Job {
 public:
  Job(Worker& worker, QObject* receiver) : worker_(worker), receiver_(receiver) {}
  ~Job() { drop(); }

  /// Runs `work()` on the worker and, unless a newer one was started or the receiver has gone,
  /// `done(its result)` on the GUI thread.
  template <typename Work, typename Done>
  void start(Work work, Done done) {
    const quint64 id = ++*newest_;
    running_ = true;
    worker_.post([this, id, newest = newest_, receiver = receiver_, work = std::move(work),
                  done = std::move(done)]() mutable {
      if (*newest != id) return;
      auto result = std::make_shared<decltype(work())>(work());  // shared: QMetaObject needs copies
      QMetaObject::invokeMethod(
          qApp,
          [this, id, newest, receiver, result, done = std::move(done)]() mutable {
            if (*newest != id || !receiver) return;
            running_ = false;
            done(std::move(*result));
          },
          Qt::QueuedConnection);
    });
  }

  /// Forgets what is under way.
  void drop() {
    ++*newest_;
    running_ = false;
  }

  bool running() const { return running_; }

 private:
  Worker& worker_;
  QPointer<QObject> receiver_;
  std::shared_ptr<std::atomic<quint64>> newest_ = std::make_shared<std::atomic<quint64>>(0);
  bool running_ = false;
};

}  // namespace heddle::gui
