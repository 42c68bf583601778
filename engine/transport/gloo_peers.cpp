#include "engine/transport/gloo_peers.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace heddle::transport {
namespace {

std::vector<at::Tensor> bytes_of(const Range& range) {
  return {at::from_blob(range.data(), {static_cast<int64_t>(range.bytes)}, at::kByte)};
}

Range range_of(const Descriptor& descriptor) {
  return {reinterpret_cast<uint64_t>(&descriptor), sizeof(descriptor)};
}

// Tags are positive ints. Bit 30: data; then 7 bits of the sequence number and 23 of a hash. Ranges
// of one tag arrive in the order in which they were sent.
int descriptor_tag(const Descriptor& descriptor) {
  return static_cast<int>(descriptor.sequence & 0x3fffffff);
}

int data_tag(const Descriptor& descriptor, const std::vector<Range>& messages) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&](uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const char c : descriptor.label) add(static_cast<unsigned char>(c));
  add(static_cast<uint64_t>(descriptor.kind));
  add(static_cast<uint64_t>(descriptor.reduction));
  add(static_cast<uint64_t>(descriptor.dtype));
  for (const Range& message : messages) add(message.bytes);
  hash ^= hash >> 32;
  return static_cast<int>(uint64_t{1} << 30 | (descriptor.sequence & 0x7f) << 23 |
                          (hash & 0x7fffff));
}

// Gloo's works can be waited for once.
void wait_all(RemoteTraffic::Works& works, std::chrono::milliseconds limit) {
  for (const auto& work : works) TORCH_CHECK(work->wait(limit), "the connection is gone");
  works.clear();
}

}  // namespace

GlooPeers::GlooPeers(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                     std::vector<bool> remote, const std::string& address,
                     std::chrono::milliseconds timeout)
    : rank_(rank), size_(size), remote_(std::move(remote)) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->threads = 1;  // sends and receives need none
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(address));
  gloo_ = c10::make_intrusive<c10d::ProcessGroupGloo>(
      c10::make_intrusive<c10d::PrefixStore>("gloo", store), rank, size, options);
}

void GlooPeers::start(const Operation& operation, RemoteTraffic& traffic) {
  std::lock_guard lock(mutex_);
  const Descriptor& descriptor = operation.descriptor;
  traffic.peers.resize(size_);
  for (int peer = 0; peer < size_; ++peer) {
    if (!remote_[peer]) continue;
    const int tag = descriptor_tag(descriptor);
    receive({range_of(traffic.peers[peer].theirs)}, peer, tag, traffic,
            traffic.peers[peer].descriptor);
    send({range_of(descriptor)}, peer, tag, traffic);
  }
  exchange(operation, 0, traffic);
}

void GlooPeers::start_second(const Operation& operation, RemoteTraffic& traffic) {
  std::lock_guard lock(mutex_);
  exchange(operation, 1, traffic);
}

void GlooPeers::exchange(const Operation& operation, int exchange, RemoteTraffic& traffic) {
  for (int peer = 0; peer < size_; ++peer) {
    if (!remote_[peer]) continue;
    RemoteTraffic::Peer& from = traffic.peers[peer];
    std::vector<Range> arrivals;
    if (operation.sums(exchange)) {
      arrivals = sums(operation, rank_, size_);
      from.rows = take_rows(total_bytes(arrivals));
      lay_out(arrivals, from.rows);
    } else {
      arrivals = places(operation, exchange, peer, size_);
    }
    from.received.clear();
    receive(arrivals, peer, data_tag(operation.descriptor, arrivals), traffic, from.received);
  }
  for (int peer = 0; peer < size_; ++peer) {
    if (!remote_[peer]) continue;
    const auto departures = parts(operation, exchange, operation.sources, rank_, peer, size_);
    send(departures, peer, data_tag(operation.descriptor, departures), traffic);
  }
}

void GlooPeers::send(const std::vector<Range>& ranges, int peer, int tag,
                     RemoteTraffic& traffic) try {
  for (const Range& range : ranges) {
    if (range.bytes == 0) continue;
    std::vector<at::Tensor> bytes = bytes_of(range);
    traffic.sent.push_back(gloo_->send(bytes, peer, tag));
  }
} catch (const std::exception&) {
  if (traffic.broken < 0) traffic.broken = peer;
}

void GlooPeers::receive(const std::vector<Range>& ranges, int peer, int tag, RemoteTraffic& traffic,
                        RemoteTraffic::Works& works) try {
  for (const Range& range : ranges) {
    if (range.bytes == 0) continue;
    std::vector<at::Tensor> bytes = bytes_of(range);
    works.push_back(gloo_->recv(bytes, peer, tag));
  }
} catch (const std::exception&) {
  if (traffic.broken < 0) traffic.broken = peer;
}

at::Tensor GlooPeers::take_rows(uint64_t bytes) {
  const auto wanted = static_cast<int64_t>(bytes);
  auto best = spare_rows_.end();
  for (auto spare = spare_rows_.begin(); spare != spare_rows_.end(); ++spare)
    if (spare->numel() >= wanted && (best == spare_rows_.end() || spare->numel() < best->numel()))
      best = spare;
  if (best == spare_rows_.end()) return at::empty({wanted}, at::kByte);
  at::Tensor rows = *best;
  spare_rows_.erase(best);
  return rows;
}

void GlooPeers::recycle(RemoteTraffic& traffic) {
  std::lock_guard lock(mutex_);
  for (RemoteTraffic::Peer& peer : traffic.peers)
    if (peer.rows.defined()) spare_rows_.push_back(std::move(peer.rows));
}

void GlooPeers::abort(RemoteTraffic& traffic) {
  std::lock_guard lock(mutex_);
  for (const auto& work : traffic.sent) work->abort();
  for (const RemoteTraffic::Peer& peer : traffic.peers) {
    for (const auto& work : peer.descriptor) work->abort();
    for (const auto& work : peer.received) work->abort();
  }
}

const Descriptor& GlooPeers::descriptor(RemoteTraffic& traffic, int peer, Limit limit) {
  wait_all(traffic.peers[peer].descriptor, limit);
  return traffic.peers[peer].theirs;
}

void GlooPeers::wait_received(RemoteTraffic& traffic, int peer, Limit limit) {
  wait_all(traffic.peers[peer].received, limit);
}

void GlooPeers::wait_sent(RemoteTraffic& traffic, Limit limit) { wait_all(traffic.sent, limit); }

}  // namespace heddle::transport
