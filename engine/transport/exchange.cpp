#include "engine/transport/exchange.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstring>

#include "engine/transport/reduce_rows.h"
#include "engine/transport/report.h"

namespace heddle::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How long a rank sleeps before it looks whether the others still live.
constexpr milliseconds kLook{50};
// All peers' chunks together stay in the second-level cache.
constexpr size_t kRowsBytes = 512 * 1024;

// Spinning helps only where every rank has a core for its transport and one for its compute.
int spins(int local_ranks) {
  cpu_set_t cores;
  const int count = sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 1;
  return count >= 2 * local_ranks ? 2000 : 0;
}

// A chunk of a list of ranges: entry i from its byte `offset` on.
struct Piece {
  size_t index;
  uint64_t offset, bytes;
};

std::vector<std::vector<Piece>> chunks(const std::vector<Range>& ranges, uint64_t chunk_bytes) {
  std::vector<std::vector<Piece>> result;
  uint64_t room = 0;
  for (size_t i = 0; i < ranges.size(); ++i)
    for (uint64_t offset = 0; offset < ranges[i].bytes;) {
      if (room == 0) {
        result.emplace_back();
        room = chunk_bytes;
      }
      const uint64_t bytes = std::min(room, ranges[i].bytes - offset);
      result.back().push_back({i, offset, bytes});
      offset += bytes;
      // Elements never straddle two chunks.
      room = (room - bytes) / 64 * 64;
    }
  return result;
}

}  // namespace

Exchange::Exchange(Meeting& meeting, int rank, int size, const GroupOptions& options,
                   const std::atomic<bool>& stop)
    : meeting_(meeting),
      rank_(rank),
      size_(size),
      options_(options),
      stop_(stop),
      spins_(spins(meeting.local_ranks)),
      latest_(size),
      timeout_(options.timeout) {}

void Exchange::run(Operation& operation, RemoteTraffic& traffic) {
  limit_ = timeout_;
  deadline_ = steady_clock::now() + limit_;
  const uint64_t sequence = operation.descriptor.sequence;
  wait_for_all(operation, traffic, &ControlPage::posted, posted_mark(sequence));
  compare(operation, traffic);
  operation.work->begin();
  if (options_.flight) options_.flight->begin(operation.flight);
  const Lists lists = sources(operation);
  for (int exchange = 0; exchange < operation.exchanges(); ++exchange) {
    if (exchange == 1) {
      meeting_.page.advance(exchanged_mark(sequence));
      if (meeting_.tcp) meeting_.tcp->start_second(operation, traffic);
      wait_for_all(operation, traffic, &ControlPage::progress, exchanged_mark(sequence));
    }
    if (operation.sums(exchange))
      sum(operation, lists, traffic);
    else
      copy(operation, exchange, lists, traffic);
  }
  meeting_.page.advance(finished_mark(sequence));
  for (int peer = 0; peer < size_; ++peer)
    for (int exchange = 0; is_remote(peer) && exchange < operation.exchanges(); ++exchange)
      require(operation, traffic, peer, meeting_.tcp->wait_sent(traffic, peer, exchange, left()));
  wait_for_all(operation, traffic, &ControlPage::progress, finished_mark(sequence));
}

void Exchange::compare(const Operation& operation, const RemoteTraffic& traffic) {
  latest_[rank_] = operation.descriptor;
  for (int peer = 0; peer < size_; ++peer) {
    if (const ControlPage* page = page_of(peer); page && peer != rank_)
      latest_[peer] = page->slots[operation.descriptor.sequence % kSlots];
    if (!is_remote(peer)) continue;
    require(operation, traffic, peer, meeting_.tcp->wait_met(traffic, peer, left()));
    latest_[peer] = *traffic.peers[peer].arrivals[0].theirs;
  }
  for (int peer = 1; peer < size_; ++peer)
    if (!agree(*latest_[0], *latest_[peer]))
      throw std::runtime_error(
          mismatch_text(options_.group, run_rank(0), *latest_[0], run_rank(peer), *latest_[peer]));
  for (int peer = 0; peer < size_; ++peer)
    if (is_remote(peer)) {
      const Arrival& arrival = traffic.peers[peer].arrivals[0];
      check_bytes(operation, peer, arrival.offered, total_bytes(arrival.ranges));
    }
}

void Exchange::check_bytes(const Operation& operation, int peer, uint64_t offered,
                           uint64_t expected) const {
  if (offered == expected) return;
  throw std::runtime_error(
      fmt::format("{} of group {}: rank {} sends {} bytes to rank {}, which expects {}",
                  to_string(operation.descriptor), options_.group, run_rank(peer), offered,
                  run_rank(rank_), expected));
}

Exchange::Lists Exchange::sources(const Operation& operation) {
  Lists lists(size_);
  lists[rank_] = operation.sources;
  for (int peer = 0; peer < size_; ++peer) {
    if (!meeting_.memory[peer]) continue;
    auto list = meeting_.memory[peer]->sources(*latest_[peer]);
    if (!list) gone(operation, peer);
    lists[peer] = std::move(*list);
  }
  return lists;
}

void Exchange::copy(const Operation& operation, int exchange, const Lists& sources,
                    RemoteTraffic& traffic) {
  // Each rank begins with its neighbour, so that not all read from one.
  for (int step = 1; step < size_; ++step) {
    const int peer = (rank_ + step) % size_;
    if (!meeting_.memory[peer]) continue;
    const auto from = parts(operation, exchange, sources[peer], peer, rank_, size_);
    const auto to = places(operation, exchange, peer, size_);
    check_bytes(operation, peer, total_bytes(from), total_bytes(to));
    read(operation, peer, from, to);
  }
  const auto own = parts(operation, exchange, sources[rank_], rank_, rank_, size_);
  const auto to = places(operation, exchange, rank_, size_);
  for (size_t i = 0; i < own.size(); ++i)
    if (own[i].address != to[i].address && own[i].bytes > 0)
      std::memmove(to[i].data(), own[i].data(), own[i].bytes);
  for (int peer = 0; peer < size_; ++peer)
    if (is_remote(peer))
      require(operation, traffic, peer,
              meeting_.tcp->wait_received(traffic, peer, exchange, left()));
}

void Exchange::sum(const Operation& operation, const Lists& sources, RemoteTraffic& traffic) {
  const std::vector<Range> results = sums(operation, rank_, size_);
  Lists rows(size_);
  int memory_peers = 0;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_ || meeting_.memory[peer]) {
      rows[peer] = parts(operation, 0, sources[peer], peer, rank_, size_);
      memory_peers += peer != rank_;
    } else {
      require(operation, traffic, peer, meeting_.tcp->wait_received(traffic, peer, 0, left()));
      rows[peer] = results;
      lay_out(rows[peer], traffic.peers[peer].rows);
    }
  }
  const size_t chunk_bytes = kRowsBytes / std::max(1, std::min(8, memory_peers)) / 64 * 64;
  rows_.resize(std::max(rows_.size(), chunk_bytes * memory_peers));
  std::vector<const std::byte*> pointers(size_);
  for (const std::vector<Piece>& chunk : chunks(results, chunk_bytes)) {
    uint64_t chunk_total = 0;
    for (const Piece& piece : chunk) chunk_total += piece.bytes;
    std::vector<const std::byte*> read_rows(size_, nullptr);
    std::byte* buffer = rows_.data();
    for (int peer = 0; peer < size_; ++peer) {
      if (!meeting_.memory[peer]) continue;
      std::vector<Range> from;
      for (const Piece& piece : chunk)
        from.push_back({rows[peer][piece.index].address + piece.offset, piece.bytes});
      read(operation, peer, from, {{reinterpret_cast<uint64_t>(buffer), chunk_total}});
      read_rows[peer] = buffer;
      buffer += chunk_bytes;
    }
    uint64_t done = 0;
    for (const Piece& piece : chunk) {
      for (int peer = 0; peer < size_; ++peer)
        pointers[peer] = read_rows[peer] ? read_rows[peer] + done
                                         : rows[peer][piece.index].data() + piece.offset;
      reduce_rows(operation.descriptor.reduction, operation.descriptor.dtype,
                  results[piece.index].data() + piece.offset, pointers.data(), size_, piece.bytes);
      done += piece.bytes;
    }
  }
}

void Exchange::wait_for_all(const Operation& operation, const RemoteTraffic& traffic,
                            std::atomic<uint32_t> ControlPage::*counter, uint32_t mark) {
  for (int peer = 0; peer < size_; ++peer) {
    if (!meeting_.memory[peer]) continue;
    const ControlPage& page = *page_of(peer);
    while (!wait_for(page.*counter, mark, kLook, spins_)) {
      if (stop_) throw std::runtime_error("the process group is closed");
      if (page.failed.load(std::memory_order_acquire))
        throw PeerFailed(fmt::format("rank {} has given up", run_rank(peer)));
      // It may have reached the mark just before it ended.
      if (!meeting_.memory[peer]->alive() && !wait_for(page.*counter, mark, milliseconds(0), 0))
        gone(operation, peer);
      if (steady_clock::now() > deadline_) time_out(operation, traffic);
    }
  }
}

void Exchange::require(const Operation& operation, const RemoteTraffic& traffic, int peer,
                       TcpPeers::Outcome outcome) {
  switch (outcome) {
    case TcpPeers::Outcome::done:
      return;
    case TcpPeers::Outcome::closed:
      throw std::runtime_error("the process group is closed");
    case TcpPeers::Outcome::late:
      time_out(operation, traffic);
    case TcpPeers::Outcome::gone:
      gone(operation, peer);
  }
}

bool Exchange::is_remote(int peer) const { return meeting_.tcp && meeting_.tcp->remote(peer); }

void Exchange::read(const Operation& operation, int peer, const std::vector<Range>& from,
                    const std::vector<Range>& to) {
  const auto read = meeting_.memory[peer]->read(from, to);
  if (read) return;
  if (!meeting_.memory[peer]->alive()) gone(operation, peer);
  throw std::runtime_error(fmt::format("{} of group {}: the memory of rank {} cannot be read: {}",
                                       to_string(operation.descriptor), options_.group,
                                       run_rank(peer), read.error().message));
}

milliseconds Exchange::left() const {
  return std::max(milliseconds(1),
                  std::chrono::duration_cast<milliseconds>(deadline_ - steady_clock::now()));
}

void Exchange::time_out(const Operation& operation, const RemoteTraffic& traffic) {
  std::vector<RankReport> reports;
  for (int peer = 0; peer < size_; ++peer) {
    // A peer that is late keeps its last seen descriptor.
    if (is_remote(peer) &&
        meeting_.tcp->wait_met(traffic, peer, milliseconds(0)) == TcpPeers::Outcome::done)
      latest_[peer] = *traffic.peers[peer].arrivals[0].theirs;
    reports.push_back(report_of(run_rank(peer), page_of(peer), latest_[peer]));
    if (meeting_.memory[peer]) reports.back().process = meeting_.memory[peer]->condition();
  }
  throw std::runtime_error(timeout_text(options_.group, operation.descriptor, limit_, reports));
}

void Exchange::gone(const Operation& operation, int peer) {
  const std::string where = fmt::format("in the middle of {} of group {}",
                                        to_string(operation.descriptor), options_.group);
  const std::string fate = is_remote(peer) ? meeting_.tcp->fate(peer) : kGone;
  throw std::runtime_error(fmt::format("rank {} {}, {}", run_rank(peer), fate, where));
}

int Exchange::run_rank(int rank) const {
  return options_.ranks.empty() ? rank : options_.ranks[rank];
}

const ControlPage* Exchange::page_of(int rank) const {
  if (rank == rank_) return meeting_.page.operator->();
  return meeting_.memory[rank] ? meeting_.memory[rank]->page().operator->() : nullptr;
}

}  // namespace heddle::transport
