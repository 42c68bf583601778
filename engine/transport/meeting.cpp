#include "engine/transport/meeting.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace heddle::transport {
namespace {

using std::chrono::steady_clock;

// A rank's description of itself.
struct Card {
  int pid = 0;
  int page_fd = -1;
  uint64_t probe_address = 0, probe_value = 0;
  std::string host;
};

std::string to_text(const Card& card) {
  return fmt::format("{} {} {} {} {}", card.pid, card.page_fd, card.probe_address, card.probe_value,
                     card.host);
}

Card parse_card(const std::string& text) {
  Card card;
  std::istringstream in(text);
  in >> card.pid >> card.page_fd >> card.probe_address >> card.probe_value >> std::ws;
  std::getline(in, card.host);
  TORCH_CHECK(!in.fail(), "the rendezvous holds \"", text, "\" where a rank should be");
  return card;
}

void set(c10d::Store& store, const std::string& key, const std::string& value) {
  store.set(key, std::vector<uint8_t>(value.begin(), value.end()));
}

std::string get(c10d::Store& store, const std::string& key) {
  const std::vector<uint8_t> value = store.get(key);
  return {value.begin(), value.end()};
}

}  // namespace

std::string host_identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string identity;
  std::getline(file, identity);
  for (const char* space : {"pid", "net"}) {
    std::error_code unknown;
    identity +=
        ' ' +
        std::filesystem::read_symlink(fmt::format("/proc/self/ns/{}", space), unknown).string();
  }
  return identity;
}

Meeting meet(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
             const GroupOptions& options) {
  const auto begin = steady_clock::now();
  store->setTimeout(options.timeout);
  allow_reading();
  auto page = MappedPage::create();
  TORCH_CHECK(page, "rank ", rank, ": ", page.error().message);
  Meeting meeting{.page = std::move(*page), .memory = {}, .tcp = nullptr, .warning = {}};
  meeting.memory.resize(size);

  static const uint64_t probe = std::random_device()() | uint64_t{std::random_device()()} << 32;
  const Card own{getpid(), meeting.page.fd(), reinterpret_cast<uint64_t>(&probe), probe,
                 options.host.empty() ? host_identity() : options.host};
  set(*store, fmt::format("card/{}", rank), to_text(own));

  // One letter a rank: '1' its memory is read, '0' it is not, '-' on another host or this rank.
  std::string reads(size, '-');
  std::string refusal;
  const auto wait_for = [&](int peer, const char* what) {
    try {
      return get(*store, fmt::format("{}/{}", what, peer));
    } catch (const std::exception&) {
      const double waited = std::chrono::duration<double>(steady_clock::now() - begin).count();
      const int missing = options.ranks.empty() ? peer : options.ranks[peer];
      TORCH_CHECK(waited * 1000 < 0.9 * static_cast<double>(options.timeout.count()), "rank ",
                  missing, " has not come within ",
                  fmt::format("{:g}", options.timeout.count() / 1e3), " s (timeouts.start)");
      throw;
    }
  };
  for (int peer = 0; peer < size; ++peer) {
    const Card card = parse_card(wait_for(peer, "card"));
    if (peer == rank || card.host != own.host) continue;
    ++meeting.local_ranks;
    auto opened = options.memory ? MemoryPeer::open(card.pid, card.page_fd, card.probe_address,
                                                    card.probe_value)
                                 : Result<MemoryPeer>(fail("switched off"));
    reads[peer] = opened ? '1' : '0';
    if (opened)
      meeting.memory[peer].emplace(std::move(*opened));
    else
      refusal = fmt::format(
          "rank {} cannot read the memory of rank {}, which is of the same host: "
          "{}; TCP carries their collectives",
          rank, peer, opened.error().message);
  }
  set(*store, fmt::format("reads/{}", rank), reads + refusal);

  // Two ranks read each other or neither does, and all connect or none.
  std::vector<std::string> said;
  for (int peer = 0; peer < size; ++peer) said.push_back(wait_for(peer, "reads"));
  std::vector<bool> remote(size, false);
  for (int a = 0; a < size; ++a) {
    if (meeting.warning.empty()) meeting.warning = said[a].substr(size);
    int unread = 0;
    for (int b = 0; b < size; ++b) {
      if (a == b || (said[a][b] == '1' && said[b][a] == '1')) continue;
      ++unread;
      if (a == rank) remote[b] = true;
    }
    meeting.remote_ranks = std::max(meeting.remote_ranks, unread);
  }
  for (int peer = 0; peer < size; ++peer)
    if (remote[peer]) meeting.memory[peer].reset();
  if (meeting.remote_ranks == 0) return meeting;
  TORCH_CHECK(
      options.credentials, "group ", options.group, ", rank ", rank,
      ": ranks that meet over TCP need a secret that they share and others cannot read, and there "
      "is none in the run directory");
  // Groups of one name have no rank in common: the first one tells them apart.
  const int first = options.ranks.empty() ? 0 : options.ranks.front();
  auto sockets = connect_ranks(*store, rank, remote, fmt::format("{}.{}", options.group, first),
                               options.address, *options.credentials, options.timeout);
  TORCH_CHECK(sockets, "group ", options.group, ", rank ", rank, ": ", sockets.error().message);
  meeting.tcp = std::make_unique<TcpPeers>(rank, std::move(*sockets));
  return meeting;
}

}  // namespace heddle::transport
