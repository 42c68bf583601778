#include "engine/transport/store_server.h"

#include <errno.h>
#include <poll.h>

#include <algorithm>

#include "base/guard.h"

namespace heddle::transport {
namespace {

using std::chrono::milliseconds;

}  // namespace

Result<std::unique_ptr<StoreServer>> StoreServer::start(Socket listener,
                                                        const Credentials& credentials,
                                                        int world_size, Socket own) {
  auto door = Door::open(std::move(listener), credentials, kStoreTopic, 0);
  if (!door) return fail(door);
  return std::unique_ptr<StoreServer>(
      new StoreServer(std::move(*door), world_size, std::move(own)));
}

StoreServer::StoreServer(Door door, int world_size, Socket own)
    : door_(std::move(door)), clients_(world_size), met_(world_size) {
  clients_[0].emplace(Channel(std::move(own)));
  met_[0] = true;
  thread_ = std::thread([this] { guarded_thread("store", [this] { serve(); }); });
}

StoreServer::~StoreServer() { thread_.join(); }

int StoreServer::patience() const {
  milliseconds left = door_ ? door_->patience() : milliseconds(std::chrono::hours(1));
  for (const auto& client : clients_)
    if (client && client->waiting)
      left = std::min(left, std::chrono::ceil<milliseconds>(client->until - Clock::now()));
  return static_cast<int>(std::max(milliseconds(0), left).count());
}

void StoreServer::serve() {
  std::vector<pollfd> polled;
  while (clients_[0]) {
    polled.assign(1, {door_ ? door_->fd() : -1, POLLIN, 0});
    // One that waits says nothing until it has its answer; that it is gone is seen all the same.
    for (const auto& client : clients_) {
      const bool talks = client && client->out.empty();
      polled.push_back(
          {client ? client->channel.fd() : -1, static_cast<short>(talks ? POLLIN : POLLOUT), 0});
    }
    if (poll(polled.data(), polled.size(), patience()) < 0 && errno != EINTR) return;
    for (size_t rank = 0; rank < clients_.size(); ++rank) {
      if (!clients_[rank] || polled[1 + rank].revents == 0) continue;
      Client& client = *clients_[rank];
      if (!(client.out.empty() ? hear(rank) : tell(client))) clients_[rank].reset();
    }
    answer_waiting();
    // Last: what was polled above is still who it was.
    if (door_) take_guests();
  }
}

void StoreServer::take_guests() {
  auto guests = door_->step();
  if (!guests) return door_.reset();
  for (Guest& guest : *guests) {
    if (guest.caller < 1 || static_cast<size_t>(guest.caller) >= clients_.size()) continue;
    // One who has come before lost its connection before it knew that it was in.
    clients_[guest.caller].emplace(std::move(guest.channel));
    met_[guest.caller] = true;
  }
  if (std::find(met_.begin(), met_.end(), false) == met_.end()) door_.reset();
}

bool StoreServer::hear(size_t rank) {
  Client& client = *clients_[rank];
  const iovec room{room_.data(), room_.size()};
  const auto got = client.channel.receive({&room, 1});
  if (!got) {
    // One who is still there learns why nobody answers any more.
    const std::string why = fmt::format("rank {} {}", rank, got.error().message);
    client.out = to_frame(StoreReply{StoreStatus::refused, StoreValue(why.begin(), why.end())});
    tell(client);
    return false;
  }
  if (*got == 0) return true;
  if (client.waiting) return false;  // it speaks before its turn
  client.in.insert(client.in.end(), room_.begin(), room_.begin() + static_cast<ptrdiff_t>(*got));
  if (client.in.size() < kLengthBytes) return true;
  const auto length = frame_length(client.in);
  if (!length || client.in.size() > kLengthBytes + *length) return false;
  if (client.in.size() < kLengthBytes + *length) return true;
  const auto request = request_from(std::span(client.in).subspan(kLengthBytes));
  client.in.clear();
  if (!request) return false;
  answer(client, *request);
  return true;
}

bool StoreServer::tell(Client& client) {
  const iovec rest{client.out.data(), client.out.size()};
  const auto sent = client.channel.send({&rest, 1});
  if (!sent) return false;
  client.out.erase(client.out.begin(), client.out.begin() + static_cast<ptrdiff_t>(*sent));
  return true;
}

void StoreServer::answer(Client& client, const StoreRequest& request) {
  const StoreReply reply = values_.answer(request);
  const bool waits = request.call == StoreCall::get && reply.status == StoreStatus::absent;
  if (waits && !client.waiting && request.wait_ms > 0) {
    client.until = Clock::now() + milliseconds(request.wait_ms);
    client.waiting = request;
    return;
  }
  client.waiting.reset();
  client.out = to_frame(reply);
  tell(client);  // that it is gone is seen when it is heard next
}

void StoreServer::answer_waiting() {
  for (auto& client : clients_) {
    if (!client || !client->waiting) continue;
    const StoreRequest request = *client->waiting;
    if (client->until <= Clock::now() || values_.answer(request).status == StoreStatus::done)
      answer(*client, request);
  }
}

}  // namespace heddle::transport
