#include "engine/runtime/process_groups.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "engine/graph/error_text.h"
#include "engine/runtime/device.h"

namespace heddle::runtime {
namespace {

constexpr std::chrono::minutes kTimeout{10};

std::map<std::string, c10::intrusive_ptr<c10d::Backend>>& groups() {
  static auto* all = new std::map<std::string, c10::intrusive_ptr<c10d::Backend>>();
  return *all;
}

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

}  // namespace

Result<> init_process_groups(const launch::RankContext& context, c10::Device device) {
  const int world = context.launch.world_size;
  if (world == 1) {
    if (context.listen_fd >= 0) close(context.listen_fd);
    return {};
  }
  const auto address = local_address(context.launch.rendezvous_host, context.port);
  if (!address) return fail(address);
  try {
    c10d::TCPStoreOptions options;
    options.port = context.port;
    options.isServer = context.rank == 0;
    options.numWorkers = static_cast<size_t>(world);
    options.waitWorkers = false;
    options.timeout = kTimeout;
    if (context.listen_fd >= 0) options.masterListenFd = context.listen_fd;
    auto store = c10::make_intrusive<c10d::TCPStore>(context.launch.rendezvous_host, options);
    groups()[kShardGroup] =
        make_group(device, c10::make_intrusive<c10d::PrefixStore>(kShardGroup, store), context.rank,
                   world, *address);
  } catch (const std::exception& error) {
    return fail("rank {} cannot meet the others at {}:{}: {}", context.rank,
                context.launch.rendezvous_host, context.port, graph::error_text(error));
  }
  return {};
}

void close_process_groups() { groups().clear(); }

c10d::Backend& process_group(const std::string& name) {
  const auto group = groups().find(name);
  TORCH_CHECK(group != groups().end(), "there is no process group \"", name, "\" on this rank");
  return *group->second;
}

}  // namespace heddle::runtime
