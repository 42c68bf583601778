// The store through which the ranks of several hosts meet: rank 0 keeps the values, the others
// reach it over one connection each, which begins with the handshake (handshake.h).
//
// Thread contract: any thread. One that waits for a key lets the others have their turn.
#pragma once

#include <memory>
#include <mutex>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/transport/handshake.h"
#include "engine/transport/store_server.h"

namespace heddle::transport {

class RendezvousStore : public c10d::Store {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// Rank 0's store. `listener`: where the others connect.
  static Result<c10::intrusive_ptr<RendezvousStore>> host(Socket listener,
                                                          const Credentials& credentials,
                                                          int world_size, Milliseconds timeout);
  /// Another rank's.
  static Result<c10::intrusive_ptr<RendezvousStore>> join(const std::string& host, uint16_t port,
                                                          const Credentials& credentials, int rank,
                                                          Milliseconds timeout);
  ~RendezvousStore() override;

  using Store::compareSet;
  using Store::set;
  c10::intrusive_ptr<Store> clone() override;
  void set(const std::string& key, const StoreValue& value) override;
  StoreValue compareSet(const std::string& key, const StoreValue& expected,
                        const StoreValue& desired) override;
  StoreValue get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t value) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const Milliseconds& timeout) override;

  RendezvousStore(Channel channel, std::unique_ptr<StoreServer> server, Milliseconds timeout);

 private:
  /// Throws where the rank 0 that keeps the values is gone or refuses.
  StoreReply ask(const StoreRequest& request);
  Result<StoreReply> exchange(const StoreRequest& request);
  StoreValue wait_for(const std::string& key, Milliseconds timeout);

  std::mutex mutex_;  // one request and its reply at a time
  Channel channel_;
  std::vector<uint8_t> room_ = std::vector<uint8_t>(kMaxRecordBytes);
  std::unique_ptr<StoreServer> server_;  // rank 0's; after the channel whose end it waits for
};

}  // namespace heddle::transport
