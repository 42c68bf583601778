#include "engine/runtime/process_groups.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "base/address.h"
#include "engine/graph/error_text.h"
#include "engine/runs/last_word.h"
#include "engine/runs/rendezvous.h"
#include "engine/runtime/deterministic.h"
#include "engine/runtime/device.h"
#include "engine/runtime/nccl_environment.h"
#include "engine/transport/host_backend.h"
#include "engine/transport/rendezvous_store.h"

namespace heddle::runtime {
namespace {

std::map<std::string, c10::intrusive_ptr<c10d::Backend>>& groups() {
  static auto* all = new std::map<std::string, c10::intrusive_ptr<c10d::Backend>>();
  return *all;
}

std::string& world() {
  static auto* name = new std::string();
  return *name;
}

c10::Device groups_device = at::kCPU;

// Where this host is reached by those who reach `host`.
struct OwnAddress {
  std::string text = "127.0.0.1";
  Address number = {};
};

Result<OwnAddress> local_address(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (int status = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
      status != 0)
    return fail("the rendezvous host {} is unknown: {}", host, gai_strerror(status));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  const Socket way(socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage local{};
  socklen_t length = sizeof(local);
  char text[NI_MAXHOST] = {};
  if (way.fd() < 0 || connect(way.fd(), found->ai_addr, found->ai_addrlen) != 0 ||
      getsockname(way.fd(), reinterpret_cast<sockaddr*>(&local), &length) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&local), length, text, sizeof(text), nullptr, 0,
                  NI_NUMERICHOST) != 0)
    return fail("no route to the rendezvous host {}: {}", host, std::strerror(errno));
  return OwnAddress{text, own_address(way)};
}

bool on_one_host(const runs::RankContext& context) {
  return context.launch.local_ranks == context.launch.world_size;
}

// The credentials of ranks that meet over TCP. Ranks of one host need them only where they
// cannot read each other's memory; the launcher has made them there as well.
Result<std::optional<transport::Credentials>> credentials_of(const runs::RankContext& context,
                                                             bool encrypt) {
  const std::string file = runs::secret_file(context.run_dir);
  if (on_one_host(context) && access(file.c_str(), F_OK) != 0) return std::nullopt;
  auto secret = read_secret(file);
  // On a disk that keeps no modes (vfat, some network file systems) nobody can tell who reads it.
  if (!secret && on_one_host(context)) return std::nullopt;
  if (!secret) return fail(secret);
  return transport::Credentials{
      *secret, fmt::format("{}/{}/{}", context.launch.run, context.launch.epoch, context.attempt),
      encrypt};
}

// Null where no supervisor reads it: nothing depends on it.
std::shared_ptr<transport::FlightRecorder> flight_recorder(const runs::RankContext& context) {
  static_assert(transport::kFlightBytes <= runs::kFlightRoom);
  if (context.word_fd < 0) return nullptr;
  return transport::FlightRecorder::open(context.word_fd, runs::kFlightAt).value_or(nullptr);
}

Result<c10::intrusive_ptr<c10d::Store>> open_store(
    const runs::RankContext& context, const std::optional<transport::Credentials>& credentials,
    std::chrono::milliseconds timeout) {
  const runs::Launch& launch = context.launch;
  if (on_one_host(context))
    return c10::make_intrusive<c10d::FileStore>(runs::rendezvous_file(context.run_dir),
                                                launch.world_size);
  auto store = context.rank == 0
                   ? transport::RendezvousStore::host(Socket(context.listen_fd), *credentials,
                                                      launch.world_size, timeout)
                   : transport::RendezvousStore::join(launch.rendezvous_host, context.port,
                                                      *credentials, context.rank, timeout);
  if (!store) return fail(store);
  return c10::intrusive_ptr<c10d::Store>(std::move(*store));
}

void make_groups(const runs::RankContext& context, const recipe::Layout& layout, c10::Device device,
                 const c10::intrusive_ptr<c10d::Store>& store, transport::GroupOptions options) {
  for (const recipe::Group& group : layout.groups()) {
    const std::vector<int> ranks = layout.members(context.rank, group);
    const auto own = std::find(ranks.begin(), ranks.end(), context.rank);
    if (own == ranks.end()) continue;
    options.group = group.name;
    options.ranks = ranks;
    // Groups of one name have no rank in common: the first one tells them apart.
    const auto prefix = fmt::format("{}.{}", group.name, ranks.front());
    groups()[group.name] =
        make_group(device, c10::make_intrusive<c10d::PrefixStore>(prefix, store),
                   static_cast<int>(own - ranks.begin()), static_cast<int>(ranks.size()), options);
  }
  world() = layout.mesh().name(recipe::kWorld);
  groups_device = device;
}

const transport::HostBackend* host_group(const std::string& name) {
  const auto group = groups().find(name);
  return group == groups().end() ? nullptr
                                 : dynamic_cast<const transport::HostBackend*>(group->second.get());
}

}  // namespace

Result<> init_process_groups(const runs::RankContext& context, const recipe::Layout& layout,
                             c10::Device device, const recipe::Transport& transport,
                             const recipe::Nccl& nccl, std::chrono::milliseconds timeout) {
  const runs::Launch& launch = context.launch;
  const bool by_nccl = device.is_cuda() && transport.gpus == "nccl";
  if (layout.mesh().size() != launch.world_size)
    return fail("a mesh of {} ranks is not one of {}", layout.mesh().size(), launch.world_size);
  if (launch.world_size == 1) {
    if (context.listen_fd >= 0) close(context.listen_fd);
    return {};
  }
  const auto own = on_one_host(context) ? Result<OwnAddress>(OwnAddress())
                                        : local_address(launch.rendezvous_host, context.port);
  if (!own) return fail(own);
  if (!on_one_host(context)) {
    const auto reach = runs::check_reach(own->number, launch.public_addresses);
    if (!reach) return fail("rank {}: {}", context.rank, reach.error().message);
    if (by_nccl && transport.encrypt)
      return fail(
          "transport.encrypt: NCCL, which sends what GPUs of several hosts exchange, cannot "
          "encrypt "
          "it; valid: false on a network that only people whom you trust are on, or "
          "transport.gpus = \"host\", or hardware.device = \"cpu\", or GPUs of one host");
  }
  if (by_nccl)
    set_nccl_environment(nccl, on_one_host(context) ? "" : interface_of(own->number),
                         computes_deterministically());
  const auto credentials = credentials_of(context, transport.encrypt);
  if (!credentials) return fail(credentials);
  const auto cannot = [&](const std::string& why) {
    const std::string place = on_one_host(context)
                                  ? runs::rendezvous_file(context.run_dir)
                                  : fmt::format("{}:{}", launch.rendezvous_host, context.port);
    return fail("rank {} cannot meet the others at {}: {}", context.rank, place, why);
  };
  try {
    const auto store = open_store(context, *credentials, timeout);
    if (!store) return cannot(store.error().message);
    transport::GroupOptions options;
    options.address = own->text;
    options.credentials = *credentials;
    options.through_host = transport.gpus == "host";
    options.timeout = timeout;
    options.flight = flight_recorder(context);
    make_groups(context, layout, device, *store, options);
  } catch (const std::exception& error) {
    return cannot(graph::error_text(error));
  }
  return {};
}

void set_timeout(std::chrono::milliseconds timeout) {
  for (const auto& [name, group] : groups()) group->setTimeout(timeout);
}

std::string world_group() { return world(); }

c10::Device transport_device() { return groups_device; }

std::string transport_name(const std::string& group) {
  if (groups().empty()) return "none";
  const transport::HostBackend* host = host_group(group);
  return host ? host->transport() : process_group(group).getBackendName();
}

int64_t remote_ranks(const std::string& group) {
  const transport::HostBackend* host = host_group(group);
  return host ? host->remote_ranks() : 0;
}

std::string transport_warning() {
  const transport::HostBackend* host = host_group(world());
  return host ? host->warning() : "";
}

void close_process_groups() { groups().clear(); }

c10d::Backend& process_group(const std::string& name) {
  const auto group = groups().find(name);
  TORCH_CHECK(group != groups().end(), "there is no process group \"", name, "\" on this rank");
  return *group->second;
}

}  // namespace heddle::runtime
