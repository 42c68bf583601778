#include "engine/transport/channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>

namespace heddle::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The bytes that a system call has moved.
Result<size_t> moved(ssize_t bytes) {
  if (bytes >= 0) return static_cast<size_t>(bytes);
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
  if (errno == EPIPE || errno == ECONNRESET) return fail("{}", kGone);
  return fail("cannot be reached ({})", strerror(errno));
}

Result<size_t> come(ssize_t bytes) {
  if (bytes == 0) return fail("{}", kGone);
  return moved(bytes);
}

msghdr message(std::span<const iovec> pieces) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  return message;
}

size_t total(std::span<const iovec> pieces) {
  size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

// The parts of the pieces from byte `at` on.
void cut(std::span<const iovec> pieces, size_t at, size_t bytes, std::vector<iovec>& slice) {
  slice.clear();
  for (const iovec& piece : pieces) {
    const size_t length = at < piece.iov_len ? std::min(piece.iov_len - at, bytes) : 0;
    if (length > 0) slice.push_back({static_cast<uint8_t*>(piece.iov_base) + at, length});
    at -= std::min(at, piece.iov_len);
    bytes -= length;
    if (bytes == 0) return;
  }
}

Result<> wait(const Channel& channel, short events, steady_clock::time_point end,
              milliseconds timeout) {
  const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
  pollfd polled{channel.fd(), events, 0};
  if (left.count() <= 0 || poll(&polled, 1, static_cast<int>(left.count())) == 0)
    return fail("does not answer within {} ms", timeout.count());
  return {};
}

}  // namespace

Channel::Channel(Socket socket, const std::optional<Keys>& keys) : socket_(std::move(socket)) {
  if (!keys) return;
  seals_.emplace(keys->out, Seal::Side::seals);
  opens_.emplace(keys->in, Seal::Side::opens);
}

Result<size_t> Channel::send(std::span<const iovec> pieces, bool head) {
  if (seals_) return send_sealed(pieces, head);
  const msghdr entries = message(pieces);
  return moved(sendmsg(fd(), &entries, MSG_DONTWAIT | MSG_NOSIGNAL));
}

Result<size_t> Channel::receive(std::span<const iovec> places) {
  if (opens_) return receive_sealed(places);
  msghdr entries = message(places);
  return come(recvmsg(fd(), &entries, MSG_DONTWAIT));
}

// Appends a record to what is about to go.
Result<> Channel::seal(std::span<const iovec> pieces, size_t at, size_t bytes) {
  const size_t size = out_size_ + record_bytes(bytes);
  if (out_.size() < size) out_.resize(size);
  cut(pieces, at, bytes, slice_);
  const auto sealed = seals_->seal(slice_, std::span(out_).first(size).subspan(out_size_));
  out_size_ = size;
  out_text_ += bytes;
  return sealed;
}

Result<size_t> Channel::send_sealed(std::span<const iovec> pieces, bool head) {
  const size_t all = total(pieces);
  for (size_t done = 0;;) {
    if (out_size_ == 0) {
      if (done == all) return done;
      if (head && done == 0)
        if (const auto sealed = seal(pieces, 0, pieces[0].iov_len); !sealed) return fail(sealed);
      const size_t at = done + out_text_;
      if (at < all)
        if (const auto sealed = seal(pieces, at, std::min(all - at, kMaxRecordBytes)); !sealed)
          return fail(sealed);
    }
    const auto sent = moved(
        ::send(fd(), out_.data() + out_sent_, out_size_ - out_sent_, MSG_DONTWAIT | MSG_NOSIGNAL));
    if (!sent) return sent;
    if (*sent == 0) return done;
    out_sent_ += *sent;
    if (out_sent_ < out_size_) continue;
    done += out_text_;
    out_size_ = out_sent_ = out_text_ = 0;
  }
}

Result<bool> Channel::fill(size_t bytes) {
  if (in_.size() < bytes) in_.resize(bytes);
  while (in_size_ < bytes) {
    const auto got = come(recv(fd(), in_.data() + in_size_, bytes - in_size_, MSG_DONTWAIT));
    if (!got) return fail(got);
    if (*got == 0) return false;
    in_size_ += *got;
  }
  return true;
}

Result<size_t> Channel::receive_sealed(std::span<const iovec> places) {
  const size_t room = total(places);
  for (size_t done = 0;;) {
    if (done == room) return done;
    auto whole = fill(std::max(in_size_, kRecordLengthBytes));
    if (!whole) return fail(whole);
    if (!*whole) return done;
    const size_t text = text_bytes(in_);
    // It would not be believed anyway.
    if (text == 0 || text > kMaxRecordBytes || (done == 0 && text > room)) return altered();
    if (text > room - done) return done;
    whole = fill(record_bytes(text));
    if (!whole) return fail(whole);
    if (!*whole) return done;
    cut(places, done, text, slice_);
    const auto opened = opens_->open(std::span(in_).first(in_size_), slice_);
    if (!opened) return fail(opened);
    in_size_ = 0;
    done += text;
  }
}

Result<> send_whole(Channel& channel, std::span<const uint8_t> bytes, milliseconds timeout) {
  const auto end = steady_clock::now() + timeout;
  while (!bytes.empty()) {
    const iovec rest{const_cast<uint8_t*>(bytes.data()), bytes.size()};
    const auto sent = channel.send({&rest, 1});
    if (!sent) return fail(sent);
    bytes = bytes.subspan(*sent);
    if (*sent > 0) continue;
    if (const auto waited = wait(channel, POLLOUT, end, timeout); !waited) return waited;
  }
  return {};
}

Result<size_t> receive_some(Channel& channel, std::span<uint8_t> place, milliseconds timeout) {
  const auto end = steady_clock::now() + timeout;
  const iovec room{place.data(), place.size()};
  while (true) {
    auto got = channel.receive({&room, 1});
    if (!got || *got > 0) return got;
    if (const auto waited = wait(channel, POLLIN, end, timeout); !waited) return fail(waited);
  }
}

}  // namespace heddle::transport
