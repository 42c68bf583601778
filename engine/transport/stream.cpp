#include "engine/transport/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace heddle::transport {
namespace {

// The most bytes of one system call, so that both directions and all peers have their turn.
constexpr uint64_t kCallBytes = 1 << 20;
// 4 ms at 1 Gbit/s. The kernel grows its buffer for it, and wakes earlier where it may not.
constexpr uint64_t kWakeBytes = 512 * 1024;

}  // namespace

Stream::Stream(Channel channel) : channel_(std::move(channel)), ended_(fd() < 0) {
  const int on = 1;
  if (!ended_) setsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
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
  const bool with_header = header_sent_ < sizeof(Header);
  if (with_header)
    out_.push_back(
        {reinterpret_cast<std::byte*>(&header_out_) + header_sent_, sizeof(Header) - header_sent_});
  departing_->peek(out_, kCallBytes);
  lock.unlock();
  const auto sent = channel_.send(out_, with_header);
  lock.lock();
  if (!sent) return end(sent.error());
  const size_t of_header = std::min(sizeof(Header) - header_sent_, *sent);
  header_sent_ += of_header;
  departing_->advance(*sent - of_header);
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
    lock.unlock();
    const auto got = channel_.receive(in_);
    lock.lock();
    if (!got) return end(got.error());
    arriving_->advance(*got);
    missing_ -= *got;
  }
  const uint64_t held = std::min<uint64_t>(channel_.held(), missing_);
  wake_after(std::clamp<uint64_t>(missing_ - held, 1, kWakeBytes));
  if (missing_ > 0) return met;
  arriving_.reset();
  header_received_ = 0;
  arrivals_.pop_front();
  arrival.received = true;
  return true;
}

// False: the stream has ended.
bool Stream::receive_header() {
  const iovec rest{reinterpret_cast<std::byte*>(&header_in_) + header_received_,
                   sizeof(Header) - header_received_};
  const auto got = channel_.receive({&rest, 1});
  if (!got) return !end(got.error());
  header_received_ += *got;
  return true;
}

bool Stream::end(Error error) {
  ended_ = true;
  error_ = std::move(error.message);
  departures_.clear();
  arrivals_.clear();
  return true;
}

// How much must have come before poll() says so: never more than is missing.
void Stream::wake_after(uint64_t bytes) {
  const int low_water = static_cast<int>(bytes);
  if (low_water == low_water_) return;
  setsockopt(fd(), SOL_SOCKET, SO_RCVLOWAT, &low_water, sizeof(low_water));
  low_water_ = low_water;
}

}  // namespace heddle::transport
