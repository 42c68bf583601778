#include "remote/authenticate.h"

#include <cstdlib>
#include <filesystem>

#include "remote/agent_socket.h"
#include "remote/ssh_folder.h"
#include "remote/ssh_pattern.h"

namespace heddle::remote {
namespace {

namespace fs = std::filesystem;
using Kind = ConnectError::Kind;

struct KeyFreed {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using Key = std::unique_ptr<ssh_key_struct, KeyFreed>;

/// libssh's answers for authentication have an AGAIN of their own.
int as_again(int answer) { return answer == SSH_AUTH_AGAIN ? SSH_AGAIN : answer; }

/// What happened to each key, for the message.
struct Attempts {
  std::string text;
  void add(const std::string& what) { text += (text.empty() ? "" : "; ") + what; }
};

/// The configured files, or else the default ones, as far as they exist.
std::vector<std::string> key_files(const Host& host, const ConnectOptions& options,
                                   Attempts& attempts) {
  std::vector<std::string> files;
  for (const std::string& file : host.identity_files) {
    if (lower(file) == kNoIdentity) continue;
    files.push_back(in_home(file));
    if (!fs::exists(files.back())) attempts.add(files.back() + ": no such file");
  }
  if (host.identity_files.empty()) {
    for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"}) {
      files.push_back(ssh_folder_or_default(options.ssh_folder) + "/" + name);
    }
  }
  std::erase_if(files, [](const std::string& file) { return !fs::exists(file); });
  return files;
}

/// SSH_AUTH_SUCCESS, SSH_AGAIN (deadline) or a refusal, noted in `attempts`.
int try_file(ssh_session session, const Host& host, const std::string& file,
             Clock::time_point deadline, Attempts& attempts) {
  // Without a passphrase callback libssh would ask on the terminal.
  const auto no_passphrase = [](const char*, char*, size_t, int, int, void*) { return -1; };
  ssh_key loaded = nullptr;
  if (ssh_pki_import_privkey_file(file.c_str(), nullptr, no_passphrase, nullptr, &loaded) !=
      SSH_OK) {
    // libssh offers all of the agent's keys or none, and IdentitiesOnly forbids the others.
    attempts.add(fmt::format(
        "{0}: cannot be used (if it has a passphrase, add it to the agent: ssh-add {0}{1})", file,
        host.identities_only
            ? "; IdentitiesOnly keeps Heddle from asking the agent: take it out of "
              "~/.ssh/config, then add the target anew"
            : ""));
    return SSH_AUTH_DENIED;
  }
  const Key key(loaded);
  const int answer = until_done(session, deadline, [&] {
    return as_again(ssh_userauth_publickey(session, nullptr, key.get()));
  });
  if (answer != SSH_AUTH_SUCCESS && answer != SSH_AGAIN) attempts.add(file + ": refused");
  return answer;
}

}  // namespace

tl::expected<void, ConnectError> authenticate(ssh_session session, const Host& host,
                                              const ConnectOptions& options,
                                              Clock::time_point deadline) {
  const auto late = [&] {
    return tl::unexpected(
        ConnectError{Kind::unreachable,
                     fmt::format("{}: the host stopped answering during authentication", host.name),
                     {}});
  };
  const auto ask = [&](auto function) {
    return until_done(session, deadline, [&] { return as_again(function()); });
  };

  int answer = ask([&] { return ssh_userauth_none(session, nullptr); });
  if (answer == SSH_AGAIN) return late();
  Attempts attempts;
  if (answer != SSH_AUTH_SUCCESS && options.use_agent && !host.identities_only) {
    // Half of what is left of the time: a key file may do it yet.
    const AgentSocket agent(session, Clock::now() + (deadline - Clock::now()) / 2);
    if (agent.connected()) {
      answer = ask([&] { return ssh_userauth_agent(session, nullptr); });
      if (agent.was_late())
        attempts.add("the agent: it does not answer");
      else if (answer == SSH_AGAIN)
        return late();
      else if (answer != SSH_AUTH_SUCCESS)
        attempts.add("the agent's keys: refused");
    }
  }
  for (const std::string& file : key_files(host, options, attempts)) {
    if (answer == SSH_AUTH_SUCCESS || !ssh_is_connected(session)) break;
    answer = try_file(session, host, file, deadline, attempts);
    if (answer == SSH_AGAIN) return late();
  }
  if (answer == SSH_AUTH_SUCCESS) return {};

  const std::string user = host.user.empty() ? "" : host.user + "@";
  if (attempts.text.empty()) attempts.add("there is no key: make one with ssh-keygen");
  return tl::unexpected(ConnectError{
      Kind::key_refused,
      fmt::format(
          "{}: the host does not let {} in. Tried: {}. Heddle uses keys only: put your public key "
          "there with `ssh-copy-id -p {} {}{}`.",
          host.name, host.user.empty() ? "you" : host.user, attempts.text, host.port, user,
          host.address),
      {}});
}

}  // namespace heddle::remote
