// Where the ranks of several hosts tell each other where they are: a thread of rank 0's process. It
// lets each rank in once, over a door; when all have come nothing listens any more.
#pragma once

#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "engine/transport/door.h"
#include "engine/transport/store_values.h"

namespace heddle::transport {

/// The topic that the store's callers name.
inline constexpr const char* kStoreTopic = "store";

class StoreServer {
 public:
  /// `own`: rank 0's end of a connection without a network. When its other end closes, all ends.
  static Result<std::unique_ptr<StoreServer>> start(Socket listener, const Credentials& credentials,
                                                    int world_size, Socket own);
  /// Waits until rank 0 has closed its end.
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  /// A rank that has come.
  struct Client {
    Channel channel;
    std::vector<uint8_t> in = {};              // a request, as far as it has come
    std::vector<uint8_t> out = {};             // a reply, as far as it has not gone
    std::optional<StoreRequest> waiting = {};  // for a key that is not there yet
    Clock::time_point until = {};
  };

  StoreServer(Door door, int world_size, Socket own);
  void serve();
  void take_guests();
  /// False: the client is gone, or says what no client says.
  bool hear(size_t rank);
  bool tell(Client& client);
  void answer(Client& client, const StoreRequest& request);
  /// Answers callers whose key has come, or whose time is up.
  void answer_waiting();
  int patience() const;

  std::optional<Door> door_;                    // until all have come
  std::vector<std::optional<Client>> clients_;  // by rank
  std::vector<bool> met_;
  StoreValues values_;
  std::vector<uint8_t> room_ = std::vector<uint8_t>(kMaxRecordBytes);
  std::thread thread_;
};

}  // namespace heddle::transport
