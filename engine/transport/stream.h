// One connection to a rank of another host: messages out, messages in, both in their order.
//
// A message is a header and the bytes of its ranges, sent straight from their place and received
// straight to where they belong. Bytes that a rank has not asked for yet stay in the kernel's
// buffer, and so, in the end, with their sender.
//
// The process wakes only when much has come: a wake-up for each of the kernel's 64 KB pieces costs
// the compute that shares the core more than the copying does.
//
// Thread contract: all under the mutex of the owner, which `send_some` and `receive_some`, called
// from one thread, let go while they copy.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/transport/channel.h"
#include "engine/transport/operation.h"
#include "engine/transport/range_cursor.h"

namespace heddle::transport {

/// A message to another rank in one exchange of a collective.
struct Departure {
  Descriptor descriptor;
  std::vector<Range> ranges;
  bool sent = false;  // handed to the kernel
};

/// A message from another rank in one exchange of a collective.
struct Arrival {
  Descriptor own;             // what this rank is in; it receives nothing else
  std::vector<Range> ranges;  // where the bytes go
  std::optional<Descriptor> theirs;
  uint64_t offered = 0;  // bytes that the other rank sends
  bool received = false;
};

/// One direction each of messages, on one channel.
class Stream {
 public:
  /// Takes over a connection; without one it has ended.
  explicit Stream(Channel channel);

  /// Queue messages to send and to await. They stay with the caller until `sent` and `received`, or
  /// until the stream is gone.
  void send(Departure& departure) { departures_.push_back(&departure); }
  void expect(Arrival& arrival) { arrivals_.push_back(&arrival); }

  int fd() const { return channel_.fd(); }
  /// The events that poll() is to wait for; 0: none.
  short events() const;
  /// Whether nothing more comes or goes, and what has become of the other side (channel.h).
  bool ended() const { return ended_; }
  const std::string& error() const { return error_; }

  /// Move what can be moved now. True: something that the owner's waiters look at has changed.
  bool send_some(std::unique_lock<std::mutex>& lock);
  bool receive_some(std::unique_lock<std::mutex>& lock);

 private:
  struct Header {
    Descriptor descriptor;
    uint64_t bytes = 0;
  };

  bool end(Error error);
  bool receive_header();
  void wake_after(uint64_t bytes);

  Channel channel_;
  bool ended_;
  std::string error_;
  bool refused_ = false;  // the other rank sends what this one does not want
  int low_water_ = 1;     // bytes that must have come for poll() to say so

  std::deque<Departure*> departures_;
  std::optional<RangeCursor> departing_;  // of the first one, once it is begun
  Header header_out_;
  size_t header_sent_ = 0;

  std::deque<Arrival*> arrivals_;
  std::optional<RangeCursor> arriving_;
  Header header_in_;
  size_t header_received_ = 0;
  uint64_t missing_ = 0;  // bytes of the first arrival that are to come
  std::vector<iovec> out_, in_;
};

}  // namespace heddle::transport
