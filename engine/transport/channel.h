// A connection between two ranks that have proven who they are: bytes go as they are, straight from
// where they lie to where they belong, or sealed (sealed.h).
//
// Errors say what has become of the other side, as in "rank 1 is gone".
//
// Thread contract: one thread.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/socket.h"
#include "engine/transport/sealed.h"

namespace heddle::transport {

/// The error where the other side has closed its end.
inline constexpr const char* kGone = "is gone";

class Channel {
 public:
  /// None: its fd() is -1.
  Channel() = default;
  /// Takes over a connected socket. Without keys nothing is encrypted.
  explicit Channel(Socket socket, const std::optional<Keys>& keys = std::nullopt);

  int fd() const { return socket_.fd(); }

  /// Sends what can be sent at once; how many bytes have gone. The next call begins with the first
  /// that has not. `head`: the other side asks for the first piece by itself before it asks for the
  /// others.
  Result<size_t> send(std::span<const iovec> pieces, bool head = false);

  /// Receives what is there; how many bytes have come. `places` must have room for a record of
  /// kMaxRecordBytes, or else for all that the other side has sent in one call, its head apart.
  Result<size_t> receive(std::span<const iovec> places);

  /// Bytes that the socket no longer has and that have not been received yet.
  size_t held() const { return in_size_; }

 private:
  Result<size_t> send_sealed(std::span<const iovec> pieces, bool head);
  Result<size_t> receive_sealed(std::span<const iovec> places);
  Result<> seal(std::span<const iovec> pieces, size_t at, size_t bytes);
  /// Whether the held bytes have become so many.
  Result<bool> fill(size_t bytes);

  Socket socket_;
  std::optional<Seal> seals_, opens_;

  std::vector<uint8_t> out_;  // sealed; what of it has gone, and how many bytes of text it is
  size_t out_size_ = 0, out_sent_ = 0, out_text_ = 0;
  std::vector<uint8_t> in_;  // a record, as far as it has come
  size_t in_size_ = 0;
  std::vector<iovec> slice_;
};

/// For those who do one thing at a time: all of it, and some of what comes, within `timeout`.
Result<> send_whole(Channel& channel, std::span<const uint8_t> bytes,
                    std::chrono::milliseconds timeout);
Result<size_t> receive_some(Channel& channel, std::span<uint8_t> place,
                            std::chrono::milliseconds timeout);

}  // namespace heddle::transport
