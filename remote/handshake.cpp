#include "remote/handshake.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "remote/authenticate.h"

namespace heddle::remote {
namespace {

using Kind = ConnectError::Kind;

/// "SHA256:…" of the key that the host presented; empty when there is none.
std::string fingerprint(ssh_session session) {
  ssh_key key = nullptr;
  if (ssh_get_server_publickey(session, &key) != SSH_OK) return {};
  unsigned char* hash = nullptr;
  size_t size = 0;
  std::string text;
  if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) == 0) {
    char* printed = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size);
    if (printed) text = printed;
    ssh_string_free_char(printed);
    ssh_clean_pubkey_hash(&hash);
  }
  ssh_key_free(key);
  return text;
}

ConnectError changed(const Host& host, const AcceptedKey& key, const std::string& where) {
  return {Kind::host_key_changed,
          fmt::format(
              "{}: the host key of {} is not the one in {}. It is now {}. Either the host was set "
              "up anew or someone is in between: ask its administrator, then remove the old key "
              "there by hand.",
              host.name, key.endpoint, where, key.fingerprint),
          key};
}

tl::expected<void, ConnectError> check_host_key(ssh_session session, const Host& host,
                                                const std::vector<AcceptedKey>& accepted) {
  const AcceptedKey key{fmt::format("{}:{}", host.address, host.port), fingerprint(session)};
  if (key.fingerprint.empty()) {
    return tl::unexpected(ConnectError{
        Kind::protocol, fmt::format("{}: the host key cannot be read", host.name), key});
  }
  switch (ssh_session_is_known_server(session)) {
    case SSH_KNOWN_HOSTS_OK:
      return {};
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER:
      return tl::unexpected(changed(host, key, "your known_hosts"));
    case SSH_KNOWN_HOSTS_ERROR:
      return tl::unexpected(ConnectError{
          Kind::protocol,
          fmt::format("{}: your known_hosts cannot be read, so the host's key cannot be "
                      "checked: {}",
                      host.name, ssh_get_error(session)),
          key});
    case SSH_KNOWN_HOSTS_NOT_FOUND:
    case SSH_KNOWN_HOSTS_UNKNOWN:
      break;
  }
  if (std::find(accepted.begin(), accepted.end(), key) != accepted.end()) return {};
  const auto same_endpoint = [&](const AcceptedKey& other) {
    return other.endpoint == key.endpoint;
  };
  if (std::any_of(accepted.begin(), accepted.end(), same_endpoint)) {
    return tl::unexpected(changed(host, key, "this target"));
  }
  return tl::unexpected(ConnectError{
      Kind::host_key_unknown,
      fmt::format(
          "{}: the host key of {} is unknown. Its fingerprint is {}: compare it with the host's "
          "and accept it.",
          host.name, key.endpoint, key.fingerprint),
      key});
}

void configure(ssh_session session, int socket, const Host& host, const ConnectOptions& options) {
  const std::string folder = ssh_folder_or_default(options.ssh_folder);
  const std::string known_hosts = folder + "/known_hosts";
  const bool no = false;
  const unsigned port = host.port;
  ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &no);
  ssh_options_set(session, SSH_OPTIONS_SSH_DIR, folder.c_str());
  ssh_options_set(session, SSH_OPTIONS_HOST, host.address.c_str());
  ssh_options_set(session, SSH_OPTIONS_PORT, &port);
  if (!host.user.empty()) ssh_options_set(session, SSH_OPTIONS_USER, host.user.c_str());
  ssh_options_set(session, SSH_OPTIONS_KNOWNHOSTS, known_hosts.c_str());
  ssh_options_set(session, SSH_OPTIONS_FD, &socket);
  ssh_set_blocking(session, 0);
}

}  // namespace

void SessionClosed::operator()(ssh_session session) const {
  ssh_disconnect(session);
  ssh_free(session);
}

void wait_for_socket(ssh_session session, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  short events = POLLIN;
  if (ssh_get_poll_flags(session) & SSH_WRITE_PENDING) events |= POLLOUT;
  pollfd polled{ssh_get_fd(session), events, 0};
  poll(&polled, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 100)));
}

tl::expected<Session, ConnectError> handshake(int socket, const Host& host,
                                              const std::vector<AcceptedKey>& accepted,
                                              const ConnectOptions& options,
                                              Clock::time_point deadline) {
  Session session(ssh_new());
  configure(session.get(), socket, host, options);
  const int answer =
      until_done(session.get(), deadline, [&] { return ssh_connect(session.get()); });
  if (answer == SSH_AGAIN) {
    return tl::unexpected(ConnectError{
        Kind::unreachable,
        fmt::format(
            "{}: {} port {} takes connections but does not answer as an SSH server: is it the "
            "right port, and is the host alive?",
            host.name, host.address, host.port),
        {}});
  }
  if (answer != SSH_OK) {
    return tl::unexpected(
        ConnectError{Kind::protocol,
                     fmt::format("{}: no SSH connection to {} port {}: {}", host.name, host.address,
                                 host.port, ssh_get_error(session.get())),
                     {}});
  }
  if (const auto known = check_host_key(session.get(), host, accepted); !known) {
    return tl::unexpected(known.error());
  }
  if (const auto allowed = authenticate(session.get(), host, options, deadline); !allowed) {
    return tl::unexpected(allowed.error());
  }
  return session;
}

}  // namespace heddle::remote
