// One SSH connection, the thread that owns it and a queue of what to run on it.
// Threads: any thread may call; calls take turns. An idle session is watched, so that `connected`
// turns false by itself when the host goes away.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "remote/connect.h"
#include "remote/connection.h"

namespace heddle::remote {

/// A program's stdin, piece by piece: fills the buffer, gives its size, 0 at the end. An error
/// stops the program.
using Source = std::function<Result<size_t>(char* buffer, size_t size)>;

/// How long a program may take from its first word on, in all or without a byte moving either way,
/// and how much it may say.
struct Limit {
  enum class Of { whole, silence };
  std::chrono::milliseconds time{30000};
  Of of = Of::whole;
  std::chrono::milliseconds most = std::chrono::hours(24);  // in all, also where bytes move
  size_t bytes = size_t{1} << 20;                           // of stdout and stderr together
};

class SshSession {
 public:
  SshSession(std::string host_name, std::unique_ptr<Connection> connection, Greeting greeting = {});
  ~SshSession();
  SshSession(const SshSession&) = delete;
  SshSession& operator=(const SshSession&) = delete;

  /// Runs argv on the host (see quote.h). `source` may be empty; it is called on the session's
  /// thread.
  Result<Completed> execute(const std::vector<std::string>& argv, Source source, Limit limit);
  bool connected() const { return connected_; }
  const std::string& host_name() const { return host_name_; }
  const Greeting& greeting() const { return greeting_; }

 private:
  void serve();
  void watch_idle();

  const std::string host_name_;
  const Greeting greeting_;
  std::chrono::milliseconds shell_start_;  // the owner thread's
  std::unique_ptr<Connection> connection_;
  std::atomic<bool> connected_{true};
  Clock::time_point last_sent_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> queue_;
  bool ending_ = false;
  std::thread owner_;  // last: starts when all else is there
};

}  // namespace heddle::remote
