#include "remote/master_connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/socket.h"
#include "remote/child.h"
#include "remote/master.h"

namespace heddle::remote {
namespace {

/// One `ssh -S`, whose stdio is the program's there.
class ChildStreams final : public Streams {
 public:
  ChildStreams(Child child, Socket in, Socket out, Socket err)
      : in_(std::move(in)), outs_{std::move(out), std::move(err)}, child_(std::move(child)) {}

  int write(const char* bytes, size_t size) override {
    const ssize_t sent = ::send(in_.fd(), bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
      is_full_ = true;
      return 0;
    }
    return static_cast<int>(sent);
  }
  void end_input() override { shutdown(in_.fd(), SHUT_WR); }
  int read(bool is_stderr, char* bytes, size_t size) override {
    if (at_end_[is_stderr]) return 0;
    const ssize_t got = ::recv(outs_[is_stderr].fd(), bytes, size, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) at_end_[is_stderr] = true;
    return static_cast<int>(std::max<ssize_t>(got, 0));
  }
  bool ended() override {
    return at_end_[0] && at_end_[1] && child_.exit_code(Clock::time_point()).has_value();
  }
  int exit_code() override { return child_.exit_code(Clock::time_point()).value_or(-1); }
  /// ssh hands no signal on.
  bool kill(Clock::time_point) override { return false; }
  void wait_for_close(Clock::time_point) override {}
  void wait(Clock::time_point deadline) override {
    std::array<pollfd, 3> polled{};
    for (const size_t i : {0, 1}) polled[i] = {at_end_[i] ? -1 : outs_[i].fd(), POLLIN, 0};
    polled[2] = {std::exchange(is_full_, false) ? in_.fd() : -1, POLLOUT, 0};
    const bool only_its_end = at_end_[0] && at_end_[1];
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    poll(polled.data(), polled.size(),
         static_cast<int>(std::clamp<int64_t>(left, 0, only_its_end ? 2 : 100)));
  }

 private:
  Socket in_;
  std::array<Socket, 2> outs_;  // stdout, stderr
  std::array<bool, 2> at_end_{};
  bool is_full_ = false;
  Child child_;
};

}  // namespace

Result<std::unique_ptr<Streams>> MasterConnection::open(const std::string& host_name,
                                                        const char* command, Clock::time_point) {
  std::array<Socket, 3> ours, its;
  for (size_t i = 0; i < ours.size(); ++i) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      return fail("{}: no socket pair: {}", host_name, std::strerror(errno));
    ours[i] = Socket(ends[0]);
    its[i] = Socket(ends[1]);
  }
  std::vector<std::string> argv = ssh_through_master(control_path_);
  argv.insert(argv.end(), {"--", host_, command});
  auto child = Child::start(argv, its[0].fd(), its[1].fd(), its[2].fd());
  if (!child) return fail("{}: {}", host_name, child.error().message);
  return std::make_unique<ChildStreams>(std::move(*child), std::move(ours[0]), std::move(ours[1]),
                                        std::move(ours[2]));
}

bool MasterConnection::is_open() const { return !hung_up_ && has_master(control_path_); }

std::string MasterConnection::error() const {
  return fmt::format("the connection of {} has ended: open it again with ssh", control_path_);
}

}  // namespace heddle::remote
