// The queue and the thread behind Writer: jobs that wait together share one transaction, each in a
// savepoint of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "storage/connection.h"
#include "storage/ingest.h"
#include "storage/lease.h"
#include "storage/writer.h"

namespace heddle::storage {

class Writer::Thread {
 public:
  explicit Thread(const std::string& path);  // throws SQLite::Exception
  /// Works off the queue.
  ~Thread();

  Result<> take_lease();
  bool has_lease() const;
  /// From now on this Writer may take in the run's logs without the lease: nobody else does.
  void imports(RunId run);
  bool may_ingest(RunId run) const;

  /// Puts `work(Connection&, Ingestor&) -> Result<T>` on the queue. An error of its own undoes what
  /// it did and nothing else.
  template <typename T, typename Work>
  std::future<Result<T>> post(Work work) {
    struct State {
      std::promise<Result<T>> promise;
      std::optional<Result<T>> result;
    };
    auto state = std::make_shared<State>();
    Job job;
    job.work = [state, work = std::move(work), this]() mutable {
      state->result = work(connection_, ingestor_);
      return state->result->has_value();
    };
    job.settle = [state](const Error* error) {
      state->promise.set_value(error ? Result<T>(tl::unexpected(*error))
                                     : std::move(*state->result));
    };
    std::future<Result<T>> future = state->promise.get_future();
    enqueue(std::move(job));
    return future;
  }

  /// A future that has failed already.
  template <typename T>
  static std::future<Result<T>> refuse(const Error& error) {
    std::promise<Result<T>> promise;
    promise.set_value(tl::unexpected(error));
    return promise.get_future();
  }

 private:
  struct Job {
    std::function<bool()> work;                // false: undo
    std::function<void(const Error*)> settle;  // null: the work's own result holds
    std::optional<Error> error;
  };
  void enqueue(Job job);
  void loop();
  void work_off(std::deque<Job>& jobs);
  void attempt(Job& job);
  void hand_back();
  Error explained(const std::exception& exception) const;

  Connection connection_;
  Ingestor ingestor_;
  std::chrono::steady_clock::time_point handed_back_ = {};
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;
  bool closing_ = false;
  std::optional<Lease> lease_;
  std::set<RunId> imported_;
  std::thread thread_;
};

}  // namespace heddle::storage
