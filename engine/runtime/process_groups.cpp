#include "engine/runtime/process_groups.h"

#include <arpa/inet.h>
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
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "engine/graph/error_text.h"
#include "engine/launch/rendezvous.h"
#include "engine/runtime/device.h"
#include "engine/transport/host_backend.h"

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

// The address of this host from which `host` is reached: what the other ranks can connect to.
Result<std::string> local_address(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (int status = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
      status != 0)
    return fail("the rendezvous host {} is unknown: {}", host, gai_strerror(status));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  const int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage local{};
  socklen_t length = sizeof(local);
  char text[NI_MAXHOST] = {};
  const bool ok = fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
                  getsockname(fd, reinterpret_cast<sockaddr*>(&local), &length) == 0 &&
                  getnameinfo(reinterpret_cast<sockaddr*>(&local), length, text, sizeof(text),
                              nullptr, 0, NI_NUMERICHOST) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  if (!ok) return fail("no route to the rendezvous host {}: {}", host, std::strerror(error));
  return std::string(text);
}

bool on_one_host(const launch::RankContext& context) {
  return context.launch.local_ranks == context.launch.world_size;
}

c10::intrusive_ptr<c10d::Store> open_store(const launch::RankContext& context,
                                           std::chrono::milliseconds timeout) {
  if (on_one_host(context))
    return c10::make_intrusive<c10d::FileStore>(launch::rendezvous_file(context.run_dir),
                                                context.launch.world_size);
  c10d::TCPStoreOptions options;
  options.port = context.port;
  options.isServer = context.rank == 0;
  options.numWorkers = static_cast<size_t>(context.launch.world_size);
  options.waitWorkers = false;
  options.timeout = timeout;
  if (context.listen_fd >= 0) options.masterListenFd = context.listen_fd;
  return c10::make_intrusive<c10d::TCPStore>(context.launch.rendezvous_host, options);
}

void make_groups(const launch::RankContext& context, const recipe::Layout& layout,
                 c10::Device device, const std::string& address,
                 std::chrono::milliseconds timeout) {
  const auto store = open_store(context, timeout);
  for (const recipe::Group& group : layout.groups()) {
    const std::vector<int> ranks = layout.members(context.rank, group);
    const auto own = std::find(ranks.begin(), ranks.end(), context.rank);
    if (own == ranks.end()) continue;
    const transport::GroupOptions options{
        .group = group.name, .ranks = ranks, .host = {}, .address = address, .timeout = timeout};
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

Result<> init_process_groups(const launch::RankContext& context, const recipe::Layout& layout,
                             c10::Device device, std::chrono::milliseconds timeout) {
  const launch::Launch& launch = context.launch;
  if (layout.mesh().size() != launch.world_size)
    return fail("a mesh of {} ranks is not one of {}", layout.mesh().size(), launch.world_size);
  if (launch.world_size == 1) {
    if (context.listen_fd >= 0) close(context.listen_fd);
    return {};
  }
  const Result<std::string> address = on_one_host(context)
                                          ? Result<std::string>("127.0.0.1")
                                          : local_address(launch.rendezvous_host, context.port);
  if (!address) return fail(address);
  try {
    make_groups(context, layout, device, *address, timeout);
  } catch (const std::exception& error) {
    const std::string place = on_one_host(context)
                                  ? launch::rendezvous_file(context.run_dir)
                                  : fmt::format("{}:{}", launch.rendezvous_host, context.port);
    return fail("rank {} cannot meet the others at {}: {}", context.rank, place,
                graph::error_text(error));
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
  return host ? host->transport() : "nccl";
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
