// Two networks of which each has its own loopback, and one who sits between them: what the second
// says to 127.0.0.1 goes through it to the first one's 127.0.0.1. It hears everything and can
// change a byte. Needs root.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/socket.h"

namespace heddle {

class Relay {
 public:
  Relay();
  ~Relay();

  /// Why there is none here; empty: there is.
  const std::string& refusal() const { return refusal_; }

  /// For setns().
  int first() const { return first_; }
  int second() const { return second_; }

  /// Changes one bit of this byte of what a connection's answerer (in the first network) says:
  /// 0 is the first connection.
  void change(size_t connection, size_t byte);

  /// All that has been said, of each connection first what was answered, then what was asked.
  std::vector<std::string> heard();

 private:
  struct Way {
    int from, to;
    std::string heard;
    size_t changed_byte = SIZE_MAX;
  };

  void run();
  /// Listens in the second network where the first one does by now.
  void follow_listeners();
  void accept_all();
  /// `tells`: by what passes the second network learns of listeners.
  void pass(Way& way, bool tells);

  std::string refusal_;
  int first_ = -1, second_ = -1, table_ = -1;
  size_t changed_connection_ = SIZE_MAX, changed_byte_ = SIZE_MAX;
  std::atomic<bool> stop_{false}, ready_{false};
  std::mutex mutex_;  // of what follows
  std::map<uint16_t, Socket> listeners_;
  std::vector<std::pair<Socket, Socket>> sockets_;  // of each connection: second's, first's
  std::vector<std::unique_ptr<Way>> ways_;
  std::vector<std::thread> passing_;
  std::thread thread_;
};

}  // namespace heddle
