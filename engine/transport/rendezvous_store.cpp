#include "engine/transport/rendezvous_store.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <thread>

namespace heddle::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How long one request may wait, so that another thread's is not kept for longer.
constexpr milliseconds kTurn{100};
// Rank 0's process may have other things to do; then it is late, not gone.
constexpr milliseconds kReply{60'000};

}  // namespace

Result<c10::intrusive_ptr<RendezvousStore>> RendezvousStore::host(Socket listener,
                                                                  const Credentials& credentials,
                                                                  int world_size,
                                                                  Milliseconds timeout) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail("socketpair: {}", strerror(errno));
  Channel own{Socket(ends[0])};
  auto server = StoreServer::start(std::move(listener), credentials, world_size, Socket(ends[1]));
  if (!server) return fail(server);
  return c10::make_intrusive<RendezvousStore>(std::move(own), std::move(*server), timeout);
}

Result<c10::intrusive_ptr<RendezvousStore>> RendezvousStore::join(const std::string& host,
                                                                  uint16_t port,
                                                                  const Credentials& credentials,
                                                                  int rank, Milliseconds timeout) {
  auto channel = knock(host, port, credentials, {.topic = kStoreTopic, .caller = rank}, timeout,
                       /*wait_for_listener=*/true);
  if (!channel) return fail(channel);
  return c10::make_intrusive<RendezvousStore>(std::move(*channel), nullptr, timeout);
}

RendezvousStore::RendezvousStore(Channel channel, std::unique_ptr<StoreServer> server,
                                 Milliseconds timeout)
    : Store(timeout), channel_(std::move(channel)), server_(std::move(server)) {}

RendezvousStore::~RendezvousStore() {
  shutdown(channel_.fd(), SHUT_RDWR);  // which ends the server
}

c10::intrusive_ptr<c10d::Store> RendezvousStore::clone() {
  return c10::intrusive_ptr<RendezvousStore>::unsafe_reclaim_from_nonowning(this);
}

StoreReply RendezvousStore::ask(const StoreRequest& request) {
  TORCH_CHECK_WITH(DistStoreError,
                   request.key.size() <= kMaxKeyBytes && request.value.size() <= kMaxValueBytes &&
                       request.expected.size() <= kMaxValueBytes,
                   "the ranks' store takes no key of ", request.key.size(), " and no value of ",
                   request.value.size(), " bytes");
  const std::lock_guard lock(mutex_);
  auto reply = exchange(request);
  if (!reply) shutdown(channel_.fd(), SHUT_RDWR);  // what comes later is another request's
  TORCH_CHECK_WITH(DistStoreError, reply, "rank 0 cannot be asked: ", reply.error().message);
  TORCH_CHECK_WITH(DistStoreError, reply->status != StoreStatus::refused, request.key, ": ",
                   std::string(reply->value.begin(), reply->value.end()));
  return std::move(*reply);
}

Result<StoreReply> RendezvousStore::exchange(const StoreRequest& request) {
  const auto amiss = [](const auto& failed) { return fail("it {}", failed.error().message); };
  if (const auto sent = send_whole(channel_, to_frame(request), kReply); !sent) return amiss(sent);
  std::vector<uint8_t> in;
  while (true) {
    const auto got = receive_some(channel_, room_, kReply);
    if (!got) return amiss(got);
    in.insert(in.end(), room_.begin(), room_.begin() + static_cast<ptrdiff_t>(*got));
    if (in.size() < kLengthBytes) continue;
    const auto length = frame_length(in);
    if (!length) return fail(length);
    if (in.size() >= kLengthBytes + *length) return reply_from(std::span(in).subspan(kLengthBytes));
  }
}

StoreValue RendezvousStore::wait_for(const std::string& key, Milliseconds timeout) {
  const auto end = steady_clock::now() + timeout;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
    const auto turn = std::clamp(left, milliseconds(1), kTurn);
    StoreReply reply = ask({.wait_ms = static_cast<uint32_t>(turn.count()), .key = key});
    if (reply.status == StoreStatus::done) return std::move(reply.value);
    TORCH_CHECK_WITH(DistStoreError, steady_clock::now() < end, "nobody has set ", key, " within ",
                     timeout.count(), " ms");
    std::this_thread::sleep_for(milliseconds(1));  // lets waiters for the mutex in first
  }
}

void RendezvousStore::set(const std::string& key, const StoreValue& value) {
  ask({.call = StoreCall::set, .key = key, .value = value});
}

StoreValue RendezvousStore::compareSet(const std::string& key, const StoreValue& expected,
                                       const StoreValue& desired) {
  return ask({.call = StoreCall::compare_set, .key = key, .value = desired, .expected = expected})
      .value;
}

StoreValue RendezvousStore::get(const std::string& key) { return wait_for(key, timeout_); }

int64_t RendezvousStore::add(const std::string& key, int64_t value) {
  const auto sum =
      number_from(ask({.call = StoreCall::add, .key = key, .value = number_value(value)}).value);
  TORCH_CHECK_WITH(DistStoreError, sum, key, ": ", sum.error().message);
  return *sum;
}

bool RendezvousStore::deleteKey(const std::string& key) {
  return ask({.call = StoreCall::remove, .key = key}).status == StoreStatus::done;
}

bool RendezvousStore::check(const std::vector<std::string>& keys) {
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return ask({.key = key}).status == StoreStatus::done;
  });
}

int64_t RendezvousStore::getNumKeys() {
  const auto count = number_from(ask({.call = StoreCall::count}).value);
  TORCH_CHECK_WITH(DistStoreError, count, count.error().message);
  return *count;
}

void RendezvousStore::wait(const std::vector<std::string>& keys) { wait(keys, timeout_); }

void RendezvousStore::wait(const std::vector<std::string>& keys, const Milliseconds& timeout) {
  const auto end = steady_clock::now() + timeout;
  for (const std::string& key : keys)
    wait_for(key, std::chrono::ceil<milliseconds>(end - steady_clock::now()));
}

}  // namespace heddle::transport
