#include "remote/authenticate.h"

#include <fmt/ranges.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

#include "remote/interactive.h"
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

constexpr int kMaxFactors = 10;
constexpr int kMaxRounds = 50;  // of questions
constexpr int kMaxTries = 3;    // as ssh's NumberOfPasswordPrompts

class Login {
 public:
  Login(ssh_session session, const Host& host, const ConnectOptions& options,
        Clock::time_point& deadline)
      : session_(session), host_(host), options_(options), deadline_(deadline) {}

  tl::expected<void, ConnectError> run() {
    int answer = ask([&] { return ssh_userauth_none(session_, nullptr); });
    if (answer == SSH_AUTH_SUCCESS) return {};
    if (answer == SSH_AGAIN) return late();
    if (!ssh_is_connected(session_)) return cut_off();
    methods_ = ssh_userauth_list(session_, nullptr);
    const bool took_keys = methods_ & SSH_AUTH_METHOD_PUBLICKEY;
    for (int factor = 0; factor < kMaxFactors; ++factor) {
      answer = SSH_AUTH_DENIED;
      if (methods_ & SSH_AUTH_METHOD_PUBLICKEY) answer = try_keys();
      if (is_refusal(answer) && ssh_is_connected(session_) &&
          (methods_ & SSH_AUTH_METHOD_INTERACTIVE))
        answer = try_person();
      if (answer == SSH_AUTH_SUCCESS) return {};
      if (answer == SSH_AGAIN) return late();
      if (!ssh_is_connected(session_)) return cut_off();
      if (answer != SSH_AUTH_PARTIAL) break;
      methods_ = ssh_userauth_list(session_, nullptr);
    }
    if (!accepted_.empty()) return wants_more();
    if (!took_keys) return takes_no_keys();
    if (agent_ && agent_->was_late())
      tried_.insert(tried_.begin(), "the agent: it does not answer");
    return refused();
  }

 private:
  using Answer = tl::unexpected<ConnectError>;

  template <typename Function>
  int ask(Function function) {
    return until_done(session_, deadline_, [&] { return as_again(function()); });
  }

  static bool is_refusal(int answer) {
    return answer != SSH_AUTH_SUCCESS && answer != SSH_AUTH_PARTIAL && answer != SSH_AGAIN;
  }

  /// Goes on with the keys that were not offered yet. SSH_AUTH_SUCCESS, SSH_AUTH_PARTIAL, SSH_AGAIN
  /// (deadline) or a refusal.
  int try_keys() {
    if (!found_) {
      // Half of what is left of the time: a key file may do it yet.
      if (options_.use_agent)
        agent_.emplace(session_, Clock::now() + (deadline_ - Clock::now()) / 2);
      found_ = offers_for(host_, options_, agent_ ? agent_->keys() : std::vector<AgentKey>());
      tried_ = std::move(found_->notes);
    }
    while (next_ < found_->offers.size()) {
      const KeyOffer& offer = found_->offers[next_++];
      const int answer = try_offer(offer, agent_ ? &*agent_ : nullptr);
      if (answer == SSH_AUTH_PARTIAL) accepted_.push_back("the key " + offer.words);
      if (!is_refusal(answer) || !ssh_is_connected(session_)) return answer;
    }
    return SSH_AUTH_DENIED;
  }

  /// The host's questions, answered by a person. As try_keys.
  int try_person() {
    bool refused = false;
    for (int tries = 0; tries < kMaxTries; ++tries) {
      int answer = ask([&] { return ssh_userauth_kbdint(session_, nullptr, nullptr); });
      for (int rounds = 0; answer == SSH_AUTH_INFO; ++rounds) {
        if (rounds == kMaxRounds) why_unanswered_ = "its questions have no end";
        if (rounds == kMaxRounds || !answer_questions(refused)) return SSH_AUTH_DENIED;
        answer = ask([&] { return ssh_userauth_kbdint(session_, nullptr, nullptr); });
      }
      if (answer == SSH_AUTH_PARTIAL) accepted_.emplace_back("your answers");
      if (!is_refusal(answer) || !ssh_is_connected(session_)) return answer;
      if (!answered_) {  // the host refuses without a question
        why_unanswered_ = "it refuses without asking anything";
        return SSH_AUTH_DENIED;
      }
      refused = true;
      why_unanswered_ = fmt::format("your answers were not right, {} times", tries + 1);
    }
    return SSH_AUTH_DENIED;
  }

  /// One set of questions. False: there are no answers, and `why_unanswered_` says why.
  bool answer_questions(bool refused) {
    Questions questions{.host = host_.name == account()
                                    ? host_.name
                                    : fmt::format("{} ({})", host_.name, account()),
                        .title = text_of(ssh_userauth_kbdint_getname(session_)),
                        .text = text_of(ssh_userauth_kbdint_getinstruction(session_)),
                        .refused = refused,
                        .background = options_.background};
    const int count = std::max(ssh_userauth_kbdint_getnprompts(session_), 0);
    for (int i = 0; i < count; ++i) {
      char echo = 0;
      const char* text = ssh_userauth_kbdint_getprompt(session_, static_cast<unsigned>(i), &echo);
      questions.prompts.push_back({text_of(text), echo != 0});
      take_lines_before(questions);
    }
    if (count == 0) return true;  // words without a question
    const Clock::time_point asked = Clock::now();
    Result<Answers> answers = ask_person(questions);
    deadline_ += Clock::now() - asked;
    if (!answers) {
      why_unanswered_ = answers.error().message;
      return false;
    }
    answered_ = true;
    for (int i = 0; i < count; ++i) {
      std::string& answer = (*answers)[static_cast<size_t>(i)];
      const bool set =
          ssh_userauth_kbdint_setanswer(session_, static_cast<unsigned>(i), answer.c_str()) == 0;
      OPENSSL_cleanse(answer.data(), answer.size());
      if (!set) return false;
    }
    return true;
  }

  /// OpenSSH puts words without a question before the next question.
  static void take_lines_before(Questions& questions) {
    std::string& prompt = questions.prompts.back().text;
    const size_t end = prompt.find_last_not_of("\r\n");
    const size_t line = end == prompt.npos ? end : prompt.rfind('\n', end);
    if (line == prompt.npos) return;
    questions.text += (questions.text.empty() ? "" : "\n") + prompt.substr(0, line);
    prompt.erase(0, line + 1);
  }

  static std::string text_of(const char* text) { return text ? text : ""; }

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
    if (answered_)
      return Answer({Kind::key_refused,
                     fmt::format("{}: the host hangs up after your answers: {}", host_.name, said),
                     {}});
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
    if (methods_ & SSH_AUTH_METHOD_INTERACTIVE)
      return Answer({Kind::key_refused,
                     fmt::format("{}: the host takes no keys of {}, it asks questions "
                                 "(keyboard-interactive): {}{}",
                                 host_.name, who(), why_unanswered_, where_to_answer()),
                     {}});
    if ((methods_ & SSH_AUTH_METHOD_GSSAPI_MIC) && !(methods_ & SSH_AUTH_METHOD_PASSWORD))
      return Answer(
          {Kind::key_refused,
           fmt::format(
               "{0}: the host lets {1} in by Kerberos alone (gssapi-with-mic), which Heddle "
               "does not speak. Let ssh open the connection and keep it: a ControlPath for "
               "{0} in ~/.ssh/config, `kinit`, `ssh -fNM {0}`; a target that is added then "
               "goes through it",
               host_.name, who()),
           {}});
    return Answer({Kind::key_refused,
                   fmt::format("{}: the host takes no keys of {}, it offers {}. Heddle uses keys "
                               "and answers to questions: ask its administrator for "
                               "PubkeyAuthentication or KbdInteractiveAuthentication",
                               host_.name, who(), fmt::join(ways(), ", ")),
                   {}});
  }

  /// The next step where nobody could be asked.
  std::string where_to_answer() const {
    if (answered_) return "";
    return options_.background
               ? ". Log in once: probe the target on the Targets page, or with `heddle targets "
                 "probe`"
               : ". Log in from a terminal or from the window's Targets page; or add a ControlPath "
                 "to ~/.ssh/config and keep a connection open with `ssh -fNM " +
                     host_.name + "`";
  }

  Words ways() const {
    const Words ways = other_ways(methods_);
    return ways.empty() ? Words{"nothing that Heddle knows"} : ways;
  }

  /// The host has accepted it.
  Answer wants_more() const {
    const std::string taken = fmt::format("{}", fmt::join(accepted_, ", "));
    if (!why_unanswered_.empty())
      return Answer({Kind::key_refused,
                     fmt::format("{}: the host accepts {} and then asks for more "
                                 "(keyboard-interactive): {}{}",
                                 host_.name, taken, why_unanswered_, where_to_answer()),
                     {}});
    const bool other_key = methods_ & SSH_AUTH_METHOD_PUBLICKEY;
    return Answer(
        {Kind::key_refused,
         fmt::format("{}: the host accepts {} and then asks for more ({}), which Heddle "
                     "cannot answer. It needs a way in by key alone: ask its administrator for an "
                     "account or address with AuthenticationMethods publickey{}",
                     host_.name, taken,
                     other_key ? "another key" : fmt::format("{}", fmt::join(ways(), ", ")),
                     other_key ? ", or name the other key as well" : ""),
         {}});
  }

  Answer refused() const {
    std::string text = fmt::format(
        "{}: the host does not let {} in. Tried: {}. ", host_.name, who(),
        tried_.empty() ? "there is no key" : fmt::format("{}", fmt::join(tried_, "; ")));
    if (answered_)
      return Answer({Kind::key_refused,
                     fmt::format("{}It asks questions (keyboard-interactive) as well: {}", text,
                                 why_unanswered_),
                     {}});
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
  Clock::time_point& deadline_;
  std::optional<Agent> agent_;
  std::optional<KeyOffers> found_;
  size_t next_ = 0;  // of the offers
  bool answered_ = false;
  std::string why_unanswered_;
  int methods_ = 0;
  int offered_ = 0;
  Words tried_;
  bool certificate_refused_ = false;
  Words accepted_;
};

}  // namespace

tl::expected<void, ConnectError> authenticate(ssh_session session, const Host& host,
                                              const ConnectOptions& options,
                                              Clock::time_point& deadline) {
  return Login(session, host, options, deadline).run();
}

}  // namespace heddle::remote
