#include "remote/connect.h"

#include "remote/channel.h"
#include "remote/dial.h"
#include "remote/exec.h"
#include "remote/handshake.h"
#include "remote/jump.h"
#include "remote/local_node.h"
#include "remote/logged_in.h"
#include "remote/master.h"
#include "remote/master_connection.h"
#include "remote/proxy.h"
#include "remote/ssh_node.h"

namespace heddle::remote {
namespace {

using Kind = ConnectError::Kind;

/// The bytes' way to the host: a socket, and what carries it where that is no plain connection.
struct Way {
  int socket = -1;
  std::unique_ptr<Carrier> carrier = {};
};

tl::expected<Way, ConnectError> dial_directly(const Host& host, Clock::time_point deadline) {
  const Result<int> dialled = dial(host.address, host.port, deadline);
  if (dialled) return Way{.socket = *dialled};
  return tl::unexpected(ConnectError{
      Kind::unreachable,
      fmt::format("{}{}: is it on, is it reachable from here, does its SSH server run?",
                  before_address(host), dialled.error().message),
      {}});
}

tl::expected<Way, ConnectError> by_program(const Host& host,
                                           Result<std::unique_ptr<Proxy>> started) {
  if (!started)
    return tl::unexpected(ConnectError{
        Kind::unreachable, fmt::format("{}: {}", host.name, started.error().message), {}});
  Way way{.socket = (*started)->take_socket()};
  way.carrier = std::move(*started);
  return way;
}

tl::expected<Way, ConnectError> by_jump(const Target& target, const Host& host,
                                        const ConnectOptions& options,
                                        Clock::time_point& deadline) {
  Result<Host> through = parse_host(host.jump);
  if (!through) {
    return tl::unexpected(ConnectError{
        Kind::protocol, fmt::format("{}: jump: {}", host.name, through.error().message), {}});
  }
  // The user has logged in there already.
  if (has_master(host.jump_control_path))
    return by_program(host,
                      Proxy::start(forward_through_master(host.jump_control_path, through->address,
                                                          host.address, host.port),
                                   "ssh through " + through->name));
  through->identity_files = host.identity_files;
  through->identities_only = host.identities_only;
  through->certificate_files = host.certificate_files;
  through->known_hosts = host.known_hosts;
  auto jump =
      Jump::open(*through, host.address, host.port, target.accepted_keys, options, deadline);
  if (!jump) return tl::unexpected(jump.error());
  Way way{.socket = (*jump)->take_socket()};
  way.carrier = std::move(*jump);
  return way;
}

tl::expected<Way, ConnectError> open_way(const Target& target, const Host& host,
                                         const ConnectOptions& options,
                                         Clock::time_point& deadline) {
  if (!host.proxy_command.empty())
    return by_program(host, Proxy::start_command(host.proxy_command));
  if (!host.jump.empty()) return by_jump(target, host, options, deadline);
  return dial_directly(host, deadline);
}

/// With the words of a program that should have carried the connection.
ConnectError with_cause(ConnectError error, const Host& host, Carrier* carrier) {
  const bool cut = error.kind == Kind::protocol || error.kind == Kind::unreachable;
  const std::string why = carrier && cut ? carrier->why_ended() : std::string();
  if (!why.empty())
    error.message = fmt::format(
        "{}: {}. It connects without a terminal: what it asks for there (a password, a host key) "
        "has to be settled before, in a terminal or by an agent",
        host.name, why);
  return error;
}

tl::expected<std::shared_ptr<SshSession>, ConnectError> greeted(
    const Host& host, const ConnectOptions& options, std::unique_ptr<Connection> connection) {
  const Result<Greeting> greeting = greet(*connection, host.name, options.shell_start);
  if (!greeting) return tl::unexpected(ConnectError{Kind::protocol, greeting.error().message, {}});
  return std::make_shared<SshSession>(host.name, std::move(connection), *greeting);
}

}  // namespace

tl::expected<std::unique_ptr<Node>, ConnectError> connect(const Target& target, const Host& host,
                                                          const ConnectOptions& options) {
  if (host.is_this_machine()) return std::make_unique<LocalNode>(host.name);
  if (auto session = logged_in(target, host)) return std::make_unique<SshNode>(std::move(session));
  if (has_master(host.control_path)) {
    auto shared =
        greeted(host, options, std::make_unique<MasterConnection>(host.control_path, host.address));
    if (!shared) return tl::unexpected(shared.error());
    return std::make_unique<SshNode>(std::move(*shared));
  }

  const Clock::time_point first_deadline = Clock::now() + options.deadline;
  Clock::time_point deadline = first_deadline;
  auto way = open_way(target, host, options, deadline);
  if (!way) return tl::unexpected(way.error());
  auto session = handshake(way->socket, host, target.accepted_keys, options, deadline);
  if (!session) return tl::unexpected(with_cause(session.error(), host, way->carrier.get()));
  auto connected = greeted(
      host, options, std::make_unique<OwnConnection>(std::move(*session), std::move(way->carrier)));
  if (!connected) return tl::unexpected(connected.error());
  // A person has answered for it.
  if (deadline != first_deadline) keep_logged_in(target, host, *connected);
  return std::make_unique<SshNode>(std::move(*connected));
}

}  // namespace heddle::remote
