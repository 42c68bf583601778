#include "engine/transport/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace heddle::transport {
namespace {

// Of one system call, so that both directions and all peers have their turn.
constexpr uint64_t kCallBytes = 1 << 20;
// 4 ms at 1 Gbit/s. The kernel grows its buffer for it, and wakes earlier where it may not.
constexpr uint64_t kWakeBytes = 512 * 1024;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

msghdr message(std::vector<iovec>& entries) {
  msghdr message{};
  message.msg_iov = entries.data();
  message.msg_iovlen = entries.size();
  return message;
}

}  // namespace

Stream::Stream(Socket socket) : socket_(std::move(socket)), ended_(socket_.fd() < 0) {
  const int on = 1;
  if (!ended_) setsockopt(socket_.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

short Stream::events() const {
  if (ended_) return 0;
  const bool reads = !arrivals_.empty() && !refused_;
  return static_cast<short>((reads ? POLLIN : 0) | (departures_.empty() ? 0 : POLLOUT));
}

bool Stream::send_some(std::unique_lock<std::mutex>& lock) {
  Departure& departure = *departures_.front();
  if (!departing_) {
    departing_.emplace(departure.ranges);
    header_out_ = {departure.descriptor, total_bytes(departure.ranges)};
    header_sent_ = 0;
  }
  out_.clear();
  if (header_sent_ < sizeof(Header))
    out_.push_back(
        {reinterpret_cast<std::byte*>(&header_out_) + header_sent_, sizeof(Header) - header_sent_});
  departing_->peek(out_, kCallBytes);
  const msghdr entries = message(out_);
  lock.unlock();
  const ssize_t sent = sendmsg(socket_.fd(), &entries, MSG_DONTWAIT | MSG_NOSIGNAL);
  const int error = errno;
  const bool later = sent < 0 && would_block();
  lock.lock();
  if (sent < 0) return later ? false : end(error);
  const size_t of_header = std::min(sizeof(Header) - header_sent_, static_cast<size_t>(sent));
  header_sent_ += of_header;
  departing_->advance(static_cast<uint64_t>(sent) - of_header);
  if (header_sent_ < sizeof(Header) || !departing_->done()) return false;
  departing_.reset();
  departures_.pop_front();
  departure.sent = true;
  return true;
}

bool Stream::receive_some(std::unique_lock<std::mutex>& lock) {
  if (header_received_ < sizeof(Header)) {
    if (!receive_header()) return true;
    if (header_received_ < sizeof(Header)) return false;
  }
  Arrival& arrival = *arrivals_.front();
  const bool met = !arriving_;
  if (met) {
    arriving_.emplace(arrival.ranges);
    arrival.theirs = header_in_.descriptor;
    arrival.offered = header_in_.bytes;
    missing_ = total_bytes(arrival.ranges);
    refused_ = !agree(arrival.own, *arrival.theirs) || arrival.offered != missing_;
    if (refused_) return true;
  }
  if (missing_ > 0) {
    in_.clear();
    arriving_->peek(in_, kCallBytes);
    msghdr entries = message(in_);
    lock.unlock();
    const ssize_t got = recvmsg(socket_.fd(), &entries, MSG_DONTWAIT);
    const int error = got == 0 ? 0 : errno;
    const bool later = got < 0 && would_block();
    lock.lock();
    if (got == 0 || (got < 0 && !later)) return end(error);
    if (got > 0) {
      arriving_->advance(static_cast<uint64_t>(got));
      missing_ -= static_cast<uint64_t>(got);
    }
  }
  wake_after(std::min(std::max<uint64_t>(missing_, 1), kWakeBytes));
  if (missing_ > 0) return met;
  arriving_.reset();
  header_received_ = 0;
  arrivals_.pop_front();
  arrival.received = true;
  return true;
}

// False: the stream has ended.
bool Stream::receive_header() {
  const ssize_t got =
      recv(socket_.fd(), reinterpret_cast<std::byte*>(&header_in_) + header_received_,
           sizeof(Header) - header_received_, MSG_DONTWAIT);
  if (got < 0 && would_block()) return true;
  if (got <= 0) return !end(got == 0 ? 0 : errno);
  header_received_ += static_cast<size_t>(got);
  return true;
}

bool Stream::end(int error) {
  ended_ = true;
  error_ = error;
  departures_.clear();
  arrivals_.clear();
  return true;
}

// How much must have come before poll() says so: never more than is missing.
void Stream::wake_after(uint64_t bytes) {
  const int low_water = static_cast<int>(bytes);
  if (low_water == low_water_) return;
  setsockopt(socket_.fd(), SOL_SOCKET, SO_RCVLOWAT, &low_water, sizeof(low_water));
  low_water_ = low_water;
}

}  // namespace heddle::transport
