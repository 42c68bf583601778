#include "tests/support/slow_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <string>

namespace heddle::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPiece = 256 << 10;
constexpr size_t kMaxUnderWay = size_t{64} << 20;

}  // namespace

/// One connection: two sockets, and for each way the bytes under way.
struct SlowLink::Line {
  struct Way {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::pair<Clock::time_point, std::string>> pieces;
    size_t bytes = 0;
    bool ended = false;
  };

  Socket near_end, far_end;
  Way out, in;
  std::vector<std::thread> threads;

  /// A reset, not a polite end.
  void cut() const {
    const linger at_once{1, 0};
    for (const Socket* end : {&near_end, &far_end}) {
      setsockopt(end->fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
      shutdown(end->fd(), SHUT_RDWR);
    }
  }
};

SlowLink::SlowLink(uint16_t to, std::chrono::microseconds delay, uint64_t bytes_per_second)
    : to_(to),
      delay_(delay),
      bytes_per_second_(bytes_per_second),
      listener_(listen_on("127.0.0.1", 0).value()),
      accepting_([this] { accept_all(); }) {}

SlowLink::~SlowLink() {
  ending_ = true;
  accepting_.join();
  cut();
}

void SlowLink::cut() {
  std::vector<std::unique_ptr<Line>> lines;
  {
    const std::lock_guard lock(mutex_);
    lines.swap(lines_);
  }
  for (const auto& line : lines) {
    line->cut();
    for (std::thread& thread : line->threads) thread.join();
  }
}

void SlowLink::accept_all() {
  while (!ending_) {
    pollfd polled{listener_.fd(), POLLIN, 0};
    if (poll(&polled, 1, 20) <= 0) continue;
    auto line = std::make_unique<Line>();
    line->near_end = Socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    auto far_end = connect_to("127.0.0.1", to_, std::chrono::seconds(5));
    if (line->near_end.fd() < 0 || !far_end) continue;
    line->far_end = std::move(*far_end);
    Line& one = *line;
    for (const bool out : {true, false})
      line->threads.emplace_back([this, &one, out] { carry(one, out); });
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
}

/// Reads on a thread of its own, so that bytes are under way while others arrive.
void SlowLink::carry(Line& line, bool out) {
  Line::Way& way = out ? line.out : line.in;
  const int from = (out ? line.near_end : line.far_end).fd();
  const int to = (out ? line.far_end : line.near_end).fd();
  std::thread reading([&] {
    std::string piece(kPiece, '\0');
    for (ssize_t got = 0; (got = recv(from, piece.data(), piece.size(), 0)) > 0;) {
      if (out) sent_ += static_cast<uint64_t>(got);
      if (out && bytes_per_second_ > 0)
        std::this_thread::sleep_for(std::chrono::duration<double>(
            static_cast<double>(got) / static_cast<double>(bytes_per_second_)));
      std::unique_lock lock(way.mutex);
      way.changed.wait(lock, [&] { return way.bytes < kMaxUnderWay || way.ended; });
      way.pieces.emplace_back(Clock::now() + delay_, piece.substr(0, static_cast<size_t>(got)));
      way.bytes += static_cast<size_t>(got);
      way.changed.notify_all();
    }
    const std::lock_guard lock(way.mutex);
    way.ended = true;
    way.changed.notify_all();
  });
  for (bool open = true; open;) {
    std::unique_lock lock(way.mutex);
    way.changed.wait(lock, [&] { return !way.pieces.empty() || way.ended; });
    if (way.pieces.empty()) break;
    auto [due, piece] = std::move(way.pieces.front());
    way.pieces.pop_front();
    way.bytes -= piece.size();
    way.changed.notify_all();
    lock.unlock();
    std::this_thread::sleep_until(due);
    for (size_t done = 0; open && done < piece.size();) {
      const ssize_t n = send(to, piece.data() + done, piece.size() - done, MSG_NOSIGNAL);
      open = n > 0;
      if (open) done += static_cast<size_t>(n);
    }
  }
  {
    const std::lock_guard lock(way.mutex);
    way.ended = true;
    way.changed.notify_all();
  }
  shutdown(to, SHUT_WR);
  shutdown(from, SHUT_RD);
  reading.join();
}

}  // namespace heddle::test
