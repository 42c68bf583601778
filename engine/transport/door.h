// A listening socket that lets ranks of the run in and nobody else. Handshakes go on side by side,
// so that a stranger who says nothing delays nobody; those who have not proven who they are are
// few, and gone after five seconds.
//
// Thread contract: one thread.
#pragma once

#include <chrono>
#include <list>
#include <string>
#include <vector>

#include "base/socket.h"
#include "engine/transport/channel.h"
#include "engine/transport/handshake.h"

namespace heddle::transport {

/// Who has proven to be of the run.
struct Guest {
  Channel channel;
  int caller = 0;
  int lane = 0;
};

class Door {
 public:
  using Clock = std::chrono::steady_clock;
  /// Strangers at a time. One more, and the one that has been there longest has to go.
  static constexpr size_t kStrangers = 256;
  static constexpr std::chrono::milliseconds kHandshake{5000};

  /// Rank `answerer`'s door; callers name the topic.
  static Result<Door> open(Socket listener, Credentials credentials, std::string topic,
                           int answerer);

  /// For poll(): readable when there is something to do.
  int fd() const { return epoll_.fd(); }
  /// How long nothing needs to be done unless it is readable.
  std::chrono::milliseconds patience() const;
  /// Does what can be done now: who has come in. An error: nobody can any more.
  Result<std::vector<Guest>> step();

 private:
  struct Stranger {
    Socket socket;
    Handshake handshake;
    Clock::time_point since;
    std::array<uint8_t, 128> said{};
    size_t size = 0;
  };
  using Strangers = std::list<Stranger>;  // the longest there first

  Door(Socket listener, Socket epoll, Credentials credentials, std::string topic, int answerer);
  Result<> take_callers();
  /// False: there is nothing more to be said with it.
  bool hear(Stranger& stranger);
  Strangers::iterator find(int fd);

  Socket listener_, epoll_;
  Credentials credentials_;
  std::string topic_;
  int answerer_;
  Strangers strangers_;
};

/// Connects to a door, again and again until it is let in or `timeout` has passed: one who was
/// pushed out by strangers calls again. `wait_for_listener`: also where nobody listens yet.
Result<Channel> knock(const std::string& host, uint16_t port, const Credentials& credentials,
                      const Contact& contact, std::chrono::milliseconds timeout,
                      bool wait_for_listener);

}  // namespace heddle::transport
