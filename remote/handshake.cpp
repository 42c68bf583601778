#include "remote/handshake.h"

#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "remote/authenticate.h"
#include "remote/certificate.h"
#include "remote/known_hosts.h"
#include "remote/ssh_folder.h"
#include "remote/ssh_key.h"

namespace heddle::remote {
namespace {

using Kind = ConnectError::Kind;

/// The key that the host presented.
struct Presented {
  std::string fingerprint;  // "SHA256:…"
  std::string key;          // as SSH sends it
};

Result<Presented> presented_key(ssh_session session) {
  ssh_key got = nullptr;
  if (ssh_get_server_publickey(session, &got) != SSH_OK) return fail("there is none");
  const Key key(got);
  Presented presented;
  unsigned char* hash = nullptr;
  size_t size = 0;
  if (ssh_get_publickey_hash(got, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) == 0) {
    char* printed = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size);
    if (printed) presented.fingerprint = printed;
    ssh_string_free_char(printed);
    ssh_clean_pubkey_hash(&hash);
  }
  char* encoded = nullptr;
  if (ssh_pki_export_pubkey_base64(got, &encoded) == SSH_OK) {
    presented.key = from_base64(encoded);
    ssh_string_free_char(encoded);
  }
  if (presented.fingerprint.empty() || presented.key.empty()) {
    return fail("it cannot be read");
  }
  return presented;
}

ConnectError changed(const Host& host, const AcceptedKey& key, const std::string& because) {
  return {Kind::host_key_changed,
          fmt::format(
              "{}the host key of {} is not the one that was known: {}. It is now {}. Either the "
              "host was set up again or someone is in between: ask its administrator, then remove "
              "the old key there.",
              before_address(host), key.endpoint, because, key.fingerprint),
          key};
}

ConnectError unknown(const Host& host, const AcceptedKey& key, const std::string& because) {
  return {Kind::host_key_unknown,
          fmt::format("{}the host key of {} is unknown{}. Its fingerprint is {}: compare it with "
                      "the host's and accept it.",
                      before_address(host), key.endpoint,
                      because.empty() ? "" : " (" + because + ")", key.fingerprint),
          key, because};
}

/// Nobody is asked about these: there is a word against the key, or one that cannot be read.
ConnectError refused(const Host& host, const AcceptedKey& key, const std::string& because) {
  return {Kind::host_key_refused,
          fmt::format("{}the host key of {}, {}, is refused: {}.", before_address(host),
                      key.endpoint, key.fingerprint, because),
          key};
}

/// A key that a person has accepted counts where the files know nothing.
tl::expected<void, ConnectError> check_accepted(const Host& host, const AcceptedKey& key,
                                                const std::vector<AcceptedKey>& accepted,
                                                const std::string& because) {
  if (std::find(accepted.begin(), accepted.end(), key) != accepted.end()) return {};
  const auto same_endpoint = [&](const AcceptedKey& other) {
    return other.endpoint == key.endpoint;
  };
  return tl::unexpected(std::any_of(accepted.begin(), accepted.end(), same_endpoint)
                            ? changed(host, key, "this target has another")
                            : unknown(host, key, because));
}

/// Whether the host's certificate may be of an authority that was revoked. Behind another host
/// nobody asks.
bool may_have_certificate(int socket, const Host& host, Clock::time_point deadline) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return true;
  if (peer.ss_family == AF_UNIX) return true;
  const Result<int> another = dial(host.address, host.port, deadline);
  return !another || offers_certificate(*another, deadline).value_or(true);
}

tl::expected<void, ConnectError> check_host_key(ssh_session session, const Host& host,
                                                const KnownHosts& known,
                                                const std::vector<AcceptedKey>& accepted,
                                                Clock::time_point deadline) {
  AcceptedKey key{fmt::format("{}:{}", host.address, host.port), {}};
  const auto presented = presented_key(session);
  if (!presented) {
    return tl::unexpected(refused(host, key, presented.error().message));
  }
  key.fingerprint = presented->fingerprint;
  const Verdict verdict = known.judge(presented->key);
  if (!verdict.revoked_other.empty() && may_have_certificate(ssh_get_fd(session), host, deadline)) {
    return tl::unexpected(refused(
        host, key,
        fmt::format("{} revokes a key that may be the authority of its certificate, which Heddle "
                    "cannot check; if that is an old key of the host, remove the line",
                    verdict.revoked_other)));
  }
  switch (verdict.trust) {
    case Trust::known:
      return {};
    case Trust::unknown:
      return check_accepted(host, key, accepted, verdict.because);
    case Trust::changed:
    case Trust::other_type:
      return tl::unexpected(changed(host, key, verdict.because));
    case Trust::revoked:
    case Trust::unreadable:
      break;
  }
  return tl::unexpected(refused(host, key, verdict.because));
}

/// Every algorithm for host keys that we accept, those first whose key would be known.
std::string algorithms_of(const KnownHosts& known) {
  const std::vector<std::string> types = known.types();
  const auto is_known = [&](std::string_view algorithm) {
    const std::string_view type = algorithm.starts_with("rsa-") ? "ssh-rsa" : algorithm;
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  std::array<std::string_view, 6> all{"ssh-ed25519",         "ecdsa-sha2-nistp256",
                                      "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
                                      "rsa-sha2-512",        "rsa-sha2-256"};
  std::stable_partition(all.begin(), all.end(), is_known);
  return fmt::format("{}", fmt::join(all, ","));
}

/// libssh's words for why the two ends cannot talk; where they have no algorithm in common, which
/// the host would have to offer.
std::string why_none(const std::string& error) {
  constexpr std::array<std::array<std::string_view, 3>, 4> kKinds{
      {{"kex algos", "key exchange", "KexAlgorithms"},
       {"server host key", "kind of host key", "HostKeyAlgorithms"},
       {"encryption", "cipher", "Ciphers"},
       {"mac algo", "MAC", "MACs"}}};
  const auto between = [&](std::string_view before) {
    const size_t at = error.find(before);
    if (at == error.npos) return std::string();
    const size_t begin = at + before.size();
    return error.substr(begin, error.find(']', begin) - begin);
  };
  const std::string method = between("no match for method ");
  for (const auto& [words, what, option] : kKinds) {
    if (!method.starts_with(words)) continue;
    return fmt::format(
        "its SSH server has no {} in common with Heddle's libssh {}: it offers {}; Heddle has {}. "
        "Its administrator can add one of these to {} in sshd_config",
        what, ssh_version(0), between("server ["), between("client ["), option);
  }
  return error;
}

// AES-GCM first: its processors' instructions make it the fastest of those that libssh has.
constexpr const char* kCiphers =
    "aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,"
    "aes256-ctr,aes192-ctr,aes128-ctr";

/// libssh reads no file of the user: what it would make of them is not what ssh does.
void configure(ssh_session session, int socket, const Host& host, const KnownHosts& known,
               const std::string& folder) {
  const bool no = false;
  const unsigned port = host.port;
  ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &no);
  ssh_options_set(session, SSH_OPTIONS_SSH_DIR, folder.c_str());
  ssh_options_set(session, SSH_OPTIONS_HOST, host.address.c_str());
  ssh_options_set(session, SSH_OPTIONS_PORT, &port);
  if (!host.user.empty()) ssh_options_set(session, SSH_OPTIONS_USER, host.user.c_str());
  ssh_options_set(session, SSH_OPTIONS_KNOWNHOSTS, "/dev/null");
  ssh_options_set(session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
  ssh_options_set(session, SSH_OPTIONS_HOSTKEYS, algorithms_of(known).c_str());
  ssh_options_set(session, SSH_OPTIONS_CIPHERS_C_S, kCiphers);
  ssh_options_set(session, SSH_OPTIONS_CIPHERS_S_C, kCiphers);
  ssh_options_set(session, SSH_OPTIONS_FD, &socket);
  ssh_set_blocking(session, 0);
}

}  // namespace

void SessionClosed::operator()(ssh_session session) const {
  // Else libssh leaves the socket open that it was given, and the host waits for us.
  ssh_options_set(session, SSH_OPTIONS_FD, nullptr);
  ssh_disconnect(session);
  ssh_free(session);
}

bool take_in(ssh_session session) {
  pollfd polled{ssh_get_fd(session), POLLIN, 0};
  if (poll(&polled, 1, 0) <= 0) return true;
  char byte = 0;
  if (recv(polled.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) return false;
  ssh_event event = ssh_event_new();
  ssh_event_add_session(event, session);
  ssh_event_dopoll(event, 0);
  ssh_event_remove_session(event, session);
  ssh_event_free(event);
  return ssh_is_connected(session) != 0;
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
                                              Clock::time_point& deadline) {
  const std::string folder = ssh_folder_or_default(options.ssh_folder);
  const Result<KnownHosts> known = KnownHosts::read(known_hosts_files(host, folder), host);
  if (!known) {
    close(socket);
    return tl::unexpected(ConnectError{
        Kind::host_key_refused, fmt::format("{}: {}", host.name, known.error().message), {}});
  }
  Session session(ssh_new());
  configure(session.get(), socket, host, *known, folder);
  const int answer =
      until_done(session.get(), deadline, [&] { return ssh_connect(session.get()); });
  if (answer == SSH_AGAIN) {
    return tl::unexpected(ConnectError{
        Kind::unreachable,
        fmt::format(
            "{}{} port {} takes connections but does not answer as an SSH server: is it the "
            "right port, and is the host alive?",
            before_address(host), host.address, host.port),
        {}});
  }
  if (answer != SSH_OK) {
    return tl::unexpected(
        ConnectError{Kind::protocol,
                     fmt::format("{}no SSH connection to {} port {}: {}", before_address(host),
                                 host.address, host.port, why_none(ssh_get_error(session.get()))),
                     {}});
  }
  if (const auto checked = check_host_key(session.get(), host, *known, accepted, deadline);
      !checked) {
    return tl::unexpected(checked.error());
  }
  if (const auto allowed = authenticate(session.get(), host, options, deadline); !allowed) {
    return tl::unexpected(allowed.error());
  }
  return session;
}

}  // namespace heddle::remote
