#include "remote/ssh_session.h"

#include <future>

#include "base/guard.h"
#include "remote/exec.h"

namespace heddle::remote {
namespace {

constexpr std::chrono::seconds kEndingLook{1};
constexpr std::chrono::seconds kKeepAlive{5};

}  // namespace

SshSession::SshSession(std::string host_name, std::unique_ptr<Connection> connection,
                       Greeting greeting)
    : host_name_(std::move(host_name)),
      greeting_(greeting),
      shell_start_(greeting.shell_start),
      connection_(std::move(connection)),
      owner_([this] { serve(); }) {}

SshSession::~SshSession() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_one();
  owner_.join();
}

void SshSession::serve() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (!arrived_.wait_for(lock, kEndingLook, [this] { return ending_ || !queue_.empty(); })) {
      lock.unlock();
      watch_idle();
      lock.lock();
    }
    while (!queue_.empty()) {
      const auto job = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }
}

/// An ignored message now and then makes the kernel notice a dead network (kSilence).
void SshSession::watch_idle() {
  if (!connected_) return;
  if (!connection_->take_in()) connected_ = false;
  if (Clock::now() - last_sent_ < kKeepAlive) return;
  last_sent_ = Clock::now();
  if (!connection_->knock()) connected_ = false;
}

Result<Completed> SshSession::execute(const std::vector<std::string>& argv, Source source,
                                      Limit limit) {
  std::packaged_task<Result<Completed>()> task([&]() -> Result<Completed> {
    if (!connected_) return fail("{}: the connection is lost", host_name_);
    Result<Completed> completed =
        caught([&] { return exec(*connection_, host_name_, argv, source, limit, shell_start_); });
    if (!connection_->is_open()) connected_ = false;
    return completed;
  });
  std::future<Result<Completed>> result = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back([&task] { task(); });
  }
  arrived_.notify_one();
  return result.get();
}

}  // namespace heddle::remote
