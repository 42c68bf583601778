#include "remote/authenticate.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "remote/key_offers.h"
#include "remote/ssh_key.h"

namespace heddle::remote {
namespace {

using Kind = ConnectError::Kind;
using Words = std::vector<std::string>;

/// libssh's answers for authentication have an AGAIN of their own.
int as_again(int answer) { return answer == SSH_AUTH_AGAIN ? SSH_AGAIN : answer; }

/// "keyboard-interactive, password": other ways in than by key.
Words other_ways(int methods) {
  constexpr std::pair<int, const char*> kNames[] = {
      {SSH_AUTH_METHOD_INTERACTIVE, "keyboard-interactive"},
      {SSH_AUTH_METHOD_PASSWORD, "password"},
      {SSH_AUTH_METHOD_GSSAPI_MIC, "gssapi-with-mic"},
      {SSH_AUTH_METHOD_HOSTBASED, "hostbased"}};
  Words names;
  for (const auto& [method, name] : kNames)
    if (methods & method) names.emplace_back(name);
  return names;
}

bool is_certificate(const std::string& algorithm) {
  return algorithm.find("-cert-v") != algorithm.npos;
}

class Login {
 public:
  Login(ssh_session session, const Host& host, const ConnectOptions& options,
        Clock::time_point deadline)
      : session_(session), host_(host), options_(options), deadline_(deadline) {}

  tl::expected<void, ConnectError> run() {
    int answer = ask([&] { return ssh_userauth_none(session_, nullptr); });
    if (answer == SSH_AUTH_SUCCESS) return {};
    if (answer == SSH_AGAIN) return late();
    if (!ssh_is_connected(session_)) return cut_off();
    methods_ = ssh_userauth_list(session_, nullptr);
    if (!(methods_ & SSH_AUTH_METHOD_PUBLICKEY)) return takes_no_keys();

    // Half of what is left of the time: a key file may do it yet.
    std::optional<Agent> agent;
    if (options_.use_agent) agent.emplace(session_, Clock::now() + (deadline_ - Clock::now()) / 2);
    KeyOffers found = offers_for(host_, options_, agent ? agent->keys() : std::vector<AgentKey>());
    tried_ = std::move(found.notes);
    for (const KeyOffer& offer : found.offers) {
      answer = try_offer(offer, agent ? &*agent : nullptr);
      if (answer == SSH_AUTH_SUCCESS) return {};
      if (answer == SSH_AGAIN) return late();
      if (!ssh_is_connected(session_)) return cut_off();
      if (answer == SSH_AUTH_PARTIAL) {
        accepted_.push_back(offer.words);
        methods_ = ssh_userauth_list(session_, nullptr);
        if (!(methods_ & SSH_AUTH_METHOD_PUBLICKEY)) break;
      }
    }
    if (!accepted_.empty()) return wants_more();
    if (agent && agent->was_late()) tried_.insert(tried_.begin(), "the agent: it does not answer");
    return refused();
  }

 private:
  using Answer = tl::unexpected<ConnectError>;

  template <typename Function>
  int ask(Function function) {
    return until_done(session_, deadline_, [&] { return as_again(function()); });
  }

  /// SSH_AUTH_SUCCESS, SSH_AUTH_PARTIAL, SSH_AGAIN (deadline) or a refusal, noted in `tried_`.
  int try_offer(const KeyOffer& offer, Agent* agent) {
    if (offer.agent && agent && !agent->was_late()) {
      agent->lend(*offer.agent);
      ++offered_;
      const int answer = ask([&] { return ssh_userauth_agent(session_, nullptr); });
      if (answer != SSH_AUTH_ERROR || !ssh_is_connected(session_)) return note(offer, answer);
      tried_.push_back(offer.words + ": the agent does not sign with it");
    }
    return offer.file.empty() ? SSH_AUTH_DENIED : try_file(offer);
  }

  int try_file(const KeyOffer& offer) {
    // Without a passphrase callback libssh would ask on the terminal.
    const auto no_passphrase = [](const char*, char*, size_t, int, int, void*) { return -1; };
    ssh_key loaded = nullptr;
    if (ssh_pki_import_privkey_file(offer.file.c_str(), nullptr, no_passphrase, nullptr, &loaded) !=
        SSH_OK) {
      if (offer.certificate.empty())
        tried_.push_back(fmt::format(
            "{0}: cannot be used (if it has a passphrase, add it to the agent: ssh-add {0})",
            offer.file));
      return SSH_AUTH_DENIED;
    }
    const Key key(loaded);
    if (!offer.certificate.empty()) {
      ssh_key read = nullptr;
      const bool usable = ssh_pki_import_cert_file(offer.certificate.c_str(), &read) == SSH_OK &&
                          ssh_pki_copy_cert_to_privkey(read, key.get()) == SSH_OK;
      const Key certificate(read);
      if (!usable) {
        tried_.push_back(offer.certificate + ": is no certificate of that key");
        return SSH_AUTH_DENIED;
      }
    }
    ++offered_;
    return note(offer, ask([&] { return ssh_userauth_publickey(session_, nullptr, key.get()); }));
  }

  int note(const KeyOffer& offer, int answer) {
    if (answer == SSH_AUTH_SUCCESS || answer == SSH_AUTH_PARTIAL || answer == SSH_AGAIN)
      return answer;
    std::string words = offer.words + ": refused";
    const bool of_certificate = !offer.certificate.empty() || is_certificate(offer.type);
    certificate_refused_ |= of_certificate;
    if (of_certificate)
      words += fmt::format(" (is it still valid, and for this user? ssh-keygen -L -f {})",
                           offer.certificate.empty() ? "FILE" : offer.certificate);
    tried_.push_back(words);
    return answer;
  }

  std::string who() const { return host_.user.empty() ? "you" : host_.user; }
  std::string account() const {
    return (host_.user.empty() ? "" : host_.user + "@") + host_.address;
  }

  Answer late() const {
    return Answer({Kind::unreachable,
                   fmt::format("{}: the host stopped answering during authentication", host_.name),
                   {}});
  }

  /// The host counts offers and hangs up.
  Answer cut_off() const {
    const std::string said = ssh_get_error(session_);
    if (offered_ == 0)
      return Answer(
          {Kind::key_refused,
           fmt::format("{}: the host hangs up before any key is offered: {}", host_.name, said),
           {}});
    const std::string remedy =
        host_.identity_files.empty()
            ? "Name the right key, and it is offered first: IdentityFile with IdentitiesOnly yes "
              "in ~/.ssh/config, or --identity"
            : "The key that is named was among them, and is not the right one";
    return Answer({Kind::key_refused,
                   fmt::format("{}: the host cut off after {} {} ({}). {}", host_.name, offered_,
                               offered_ == 1 ? "key" : "keys", said, remedy),
                   {}});
  }

  Answer takes_no_keys() const {
    return Answer({Kind::key_refused,
                   fmt::format("{}: the host takes no keys of {}, it offers {}. Heddle uses keys "
                               "only: ask its administrator for PubkeyAuthentication",
                               host_.name, who(), fmt::join(ways(), ", ")),
                   {}});
  }

  Words ways() const {
    const Words ways = other_ways(methods_);
    return ways.empty() ? Words{"nothing that Heddle knows"} : ways;
  }

  /// The key was right.
  Answer wants_more() const {
    const bool other_key = methods_ & SSH_AUTH_METHOD_PUBLICKEY;
    return Answer(
        {Kind::key_refused,
         fmt::format("{}: the host accepts the key {} and then asks for more ({}), which Heddle "
                     "cannot answer. It needs a way in by key alone: ask its administrator for an "
                     "account or address with AuthenticationMethods publickey{}",
                     host_.name, fmt::join(accepted_, ", "),
                     other_key ? "another key" : fmt::format("{}", fmt::join(ways(), ", ")),
                     other_key ? ", or name the other key as well" : ""),
         {}});
  }

  Answer refused() const {
    std::string text = fmt::format(
        "{}: the host does not let {} in. Tried: {}. ", host_.name, who(),
        tried_.empty() ? "there is no key" : fmt::format("{}", fmt::join(tried_, "; ")));
    return Answer({Kind::key_refused, text + remedy(), {}});
  }

  std::string remedy() const {
    if (offered_ == 0 && !tried_.empty()) return "Heddle uses keys only";
    const std::string first = offered_ == 0 ? "make one with ssh-keygen, then " : "";
    // Which needs another way in itself.
    if (methods_ & (SSH_AUTH_METHOD_PASSWORD | SSH_AUTH_METHOD_INTERACTIVE))
      return fmt::format(
          "Heddle uses keys only: {}put your public key there with "
          "`ssh-copy-id -p {} {}`",
          first, host_.port, account());
    return fmt::format(
        "The host takes nothing but keys: {}have its administrator add your public key to the "
        "authorized_keys of {}{}",
        first, host_.user.empty() ? "your account" : host_.user,
        certificate_refused_ ? ""
                             : "; where it takes certificates only, put yours next to the key, as "
                               "id_ed25519-cert.pub for id_ed25519");
  }

  ssh_session session_;
  const Host& host_;
  const ConnectOptions& options_;
  const Clock::time_point deadline_;
  int methods_ = 0;
  int offered_ = 0;
  Words tried_;
  bool certificate_refused_ = false;
  Words accepted_;
};

}  // namespace

tl::expected<void, ConnectError> authenticate(ssh_session session, const Host& host,
                                              const ConnectOptions& options,
                                              Clock::time_point deadline) {
  return Login(session, host, options, deadline).run();
}

}  // namespace heddle::remote
