#include "remote/connect.h"

#include "remote/dial.h"
#include "remote/exec.h"
#include "remote/handshake.h"
#include "remote/jump.h"
#include "remote/local_node.h"
#include "remote/ssh_node.h"

namespace heddle::remote {
namespace {

using Kind = ConnectError::Kind;

tl::expected<std::unique_ptr<Jump>, ConnectError> open_jump(const Target& target, const Host& host,
                                                            const ConnectOptions& options,
                                                            Clock::time_point deadline) {
  Result<Host> through = parse_host(host.jump);
  if (!through) {
    return tl::unexpected(ConnectError{
        Kind::protocol, fmt::format("{}: jump: {}", host.name, through.error().message), {}});
  }
  through->identity_files = host.identity_files;
  through->identities_only = host.identities_only;
  through->known_hosts = host.known_hosts;
  return Jump::open(*through, host.address, host.port, target.accepted_keys, options, deadline);
}

}  // namespace

tl::expected<std::unique_ptr<Node>, ConnectError> connect(const Target& target, const Host& host,
                                                          const ConnectOptions& options) {
  if (host.is_this_machine()) return std::make_unique<LocalNode>(host.name);

  const Clock::time_point deadline = Clock::now() + options.deadline;
  std::unique_ptr<Jump> jump;
  int socket = -1;
  if (host.jump.empty()) {
    const Result<int> dialled = dial(host.address, host.port, deadline);
    if (!dialled) {
      return tl::unexpected(ConnectError{
          Kind::unreachable,
          fmt::format("{}{}: is it on, is it reachable from here, does its SSH server run?",
                      before_address(host), dialled.error().message),
          {}});
    }
    socket = *dialled;
  } else {
    auto opened = open_jump(target, host, options, deadline);
    if (!opened) return tl::unexpected(opened.error());
    jump = std::move(*opened);
    socket = jump->take_socket();
  }
  auto session = handshake(socket, host, target.accepted_keys, options, deadline);
  if (!session) return tl::unexpected(session.error());
  const Result<Greeting> greeting = greet(session->get(), host.name, options.shell_start);
  if (!greeting) return tl::unexpected(ConnectError{Kind::protocol, greeting.error().message, {}});
  return std::make_unique<SshNode>(
      std::make_unique<SshSession>(host.name, std::move(*session), std::move(jump), *greeting));
}

}  // namespace heddle::remote
