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

/// Work for one receiver: a question that is asked again and again, of which only the newest answer
/// is wanted, or things to be done, each of which is. GUI thread only.
class Job {
 public:
  Job(Worker& worker, QObject* receiver) : worker_(worker), receiver_(receiver) {}
  ~Job() { drop(); }

  /// Drops what is under way (a task that has not begun is skipped), then as add().
  template <typename Work, typename Done>
  void start(Work work, Done done) {
    drop();
    add(std::move(work), std::move(done));
  }

  /// Runs `work()` on the worker and, unless it was dropped or the receiver has gone,
  /// `done(its result)` on the GUI thread.
  template <typename Work, typename Done>
  void add(Work work, Done done) {
    ++running_;
    worker_.post([this, id = newest_->load(), newest = newest_, receiver = receiver_,
                  work = std::move(work), done = std::move(done)]() mutable {
      if (*newest != id) return;
      auto result = std::make_shared<decltype(work())>(work());  // shared: QMetaObject needs copies
      QMetaObject::invokeMethod(
          qApp,
          [this, id, newest, receiver, result, done = std::move(done)]() mutable {
            if (*newest != id || !receiver) return;
            --running_;
            done(std::move(*result));
          },
          Qt::QueuedConnection);
    });
  }

  /// Forgets the task under way.
  void drop() {
    ++*newest_;
    running_ = 0;
  }

  bool running() const { return running_ > 0; }

 private:
  Worker& worker_;
  QPointer<QObject> receiver_;
  std::shared_ptr<std::atomic<quint64>> newest_ = std::make_shared<std::atomic<quint64>>(0);
  int running_ = 0;
};

}  // namespace heddle::gui
