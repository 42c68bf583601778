#include "remote/proxy.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace heddle::remote {
namespace {

constexpr size_t kMaxSaid = 2000;
/// A program that has closed the connection ends itself within this time.
constexpr std::chrono::milliseconds kEndPatience{1000};
/// How long it may take to clean up.
constexpr std::chrono::milliseconds kTermPatience{500};

}  // namespace

Result<std::unique_ptr<Proxy>> Proxy::start(const std::vector<std::string>& argv,
                                            std::string words) {
  std::array<int, 2> ends{}, errors{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail("no socket pair: {}", std::strerror(errno));
  Socket near_end(ends[0]);
  const Socket far_end(ends[1]);
  if (pipe2(errors.data(), O_CLOEXEC) != 0) return fail("no pipe: {}", std::strerror(errno));
  Socket stderr_end(errors[0]);
  const Socket its_stderr(errors[1]);
  // The program's end blocks, as its stdio does elsewhere.
  fcntl(near_end.fd(), F_SETFL, O_NONBLOCK);
  auto child = Child::start(argv, far_end.fd(), far_end.fd(), its_stderr.fd());
  if (!child) return fail("{}: {}", words, child.error().message);
  return std::unique_ptr<Proxy>(
      new Proxy(std::move(*child), std::move(near_end), std::move(stderr_end), std::move(words)));
}

Result<std::unique_ptr<Proxy>> Proxy::start_command(const std::string& command) {
  const char* shell = std::getenv("SHELL");
  return start({shell && *shell ? shell : "/bin/sh", "-c", "exec " + command},
               "ProxyCommand " + command);
}

Proxy::Proxy(Child child, Socket near_end, Socket stderr_end, std::string words)
    : words_(std::move(words)),
      near_(std::move(near_end)),
      stderr_(std::move(stderr_end)),
      hearing_([this] { hear(); }) {
  child_.emplace(std::move(child));
}

Proxy::~Proxy() {
  child_->terminate();
  (void)child_->exit_code(Clock::now() + kTermPatience);
  child_.reset();
  ending_ = true;
  hearing_.join();
}

int Proxy::take_socket() {
  const Socket taken(std::move(near_));
  return fcntl(taken.fd(), F_DUPFD_CLOEXEC, 0);
}

/// Takes in all of its stderr, so that it never waits for a reader, and keeps the beginning.
void Proxy::hear() {
  std::array<char, 4096> piece{};
  while (!ending_) {
    pollfd polled{stderr_.fd(), POLLIN, 0};
    if (poll(&polled, 1, 100) <= 0) continue;
    const ssize_t got = read(stderr_.fd(), piece.data(), piece.size());
    if (got == 0 || (got < 0 && errno != EINTR)) break;
    const std::lock_guard lock(mutex_);
    if (got > 0)
      said_.append(piece.data(), std::min(static_cast<size_t>(got), kMaxSaid - said_.size()));
  }
  heard_all_ = true;
}

std::string Proxy::why_ended() {
  const std::optional<int> code = child_->exit_code(Clock::now() + kEndPatience);
  const Clock::time_point end = Clock::now() + kEndPatience;
  while (code && !heard_all_ && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const std::lock_guard lock(mutex_);
  std::string said = said_;
  while (!said.empty() && (said.back() == '\n' || said.back() == '\r')) said.pop_back();
  if (code)
    return fmt::format("{} ended with exit code {}: {}", words_, *code,
                       said.empty() ? "it said nothing" : said);
  return said.empty() ? said : fmt::format("{} says: {}", words_, said);
}

}  // namespace heddle::remote
