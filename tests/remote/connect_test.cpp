// Getting in, and every way not to, against a real sshd.
#include "remote/connect.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QtTest>
#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "tests/support/results.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;
using Kind = ConnectError::Kind;

namespace {

auto open_first(const Target& target, const ConnectOptions& options) {
  return remote::connect(target, target.hosts[0], options);
}

void run(const std::vector<std::string>& argv) {
  process::Command command;
  command.argv = argv;
  const auto completed = process::run(command);
  if (!completed || completed->exit_code != 0) qFatal("%s failed", argv[0].c_str());
}

void make_key(const std::string& file, const std::string& passphrase = {}) {
  run({"ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", file});
}

/// A listening socket of the loopback that never says a word.
class Silence {
 public:
  explicit Silence(int backlog) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    bind(fd_, reinterpret_cast<sockaddr*>(&address_), size);
    listen(fd_, backlog);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address_), &size);
  }
  ~Silence() {
    for (const int fd : callers_) close(fd);
    close(fd_);
  }
  /// Takes the place of a caller nobody picks up for: with a backlog of 0 the next one hears
  /// nothing.
  void fill() {
    for (int i = 0; i < 2; ++i) {
      callers_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
      (void)::connect(callers_.back(), reinterpret_cast<sockaddr*>(&address_), sizeof(address_));
    }
  }
  Target target() const {
    Host host;
    host.name = "silent";
    host.address = "127.0.0.1";
    host.port = ntohs(address_.sin_port);
    Target target;
    target.name = "silent";
    target.hosts = {host};
    return target;
  }

 private:
  int fd_;
  sockaddr_in address_{};
  std::vector<int> callers_;
};

ConnectOptions soon() {
  ConnectOptions options;
  options.deadline = std::chrono::milliseconds(500);
  return options;
}

/// Sockets, pipes and files of this process.
size_t open_files() {
  namespace fs = std::filesystem;
  const auto count = std::distance(fs::directory_iterator("/proc/self/fd"), {});
  return static_cast<size_t>(count);
}

}  // namespace

// Evaluates its argument once.
#define VERIFY_REFUSED(call, expected, words)                                    \
  do {                                                                           \
    const auto& result = (call);                                                 \
    QVERIFY(!result);                                                            \
    QVERIFY2(result.error().kind == (expected), result.error().message.c_str()); \
    QVERIFY2(result.error().message.find(words) != std::string::npos,            \
             result.error().message.c_str());                                    \
  } while (false)

class ConnectTest : public QObject {
  Q_OBJECT

  std::unique_ptr<test::Sshd> sshd_;

  /// The line that ssh would have put into known_hosts.
  std::string known_hosts_line() const {
    process::Command scan;
    scan.argv = {"ssh-keyscan", "-t", "ed25519", "-p", std::to_string(sshd_->port()), "127.0.0.1"};
    return process::run(scan)->out;
  }

 private Q_SLOTS:
  void initTestCase() {
    const std::string missing = test::Sshd::missing();
    if (!missing.empty()) QSKIP(missing.c_str());
    auto started = test::Sshd::start();
    VERIFY_RESULT(started);
    sshd_ = std::move(*started);
  }

  void this_machine_needs_no_connection() {
    const Target target = this_machine();
    const auto node = open_first(target, {});
    VERIFY_RESULT(node);
    QVERIFY((*node)->is_this_machine());
  }

  void an_unknown_host_key_is_shown_and_accepted_by_the_caller() {
    Target target = sshd_->target();
    const auto refused = open_first(target, sshd_->connect_options());
    VERIFY_REFUSED(refused, Kind::host_key_unknown, sshd_->fingerprint());
    QCOMPARE(refused.error().key.fingerprint, sshd_->fingerprint());
    target.accepted_keys.push_back(refused.error().key);
    VERIFY_RESULT(open_first(target, sshd_->connect_options()));
  }

  void the_users_known_hosts_are_believed() {
    const std::string file = sshd_->connect_options().ssh_folder + "/known_hosts";
    std::ofstream(file) << known_hosts_line();
    VERIFY_RESULT(open_first(sshd_->target(), sshd_->connect_options()));

    const Target accepted = sshd_->trusted_target();
    sshd_->stop();
    QVERIFY(sshd_->change_host_key());
    QVERIFY(sshd_->start_again());
    VERIFY_REFUSED(open_first(sshd_->target(), sshd_->connect_options()), Kind::host_key_changed,
                   file + ":1 has another key of it");
    VERIFY_REFUSED(open_first(sshd_->trusted_target(), sshd_->connect_options()),
                   Kind::host_key_changed, file + ":1 has another key of it");
    std::filesystem::remove(file);
    const auto changed = open_first(accepted, sshd_->connect_options());
    VERIFY_REFUSED(changed, Kind::host_key_changed, "someone is in between");
    QCOMPARE(changed.error().key.fingerprint, sshd_->fingerprint());
  }

  void a_key_that_the_host_does_not_know_is_refused() {
    QTemporaryDir folder;
    ConnectOptions options = sshd_->connect_options();
    options.ssh_folder = folder.path().toStdString();
    VERIFY_REFUSED(open_first(sshd_->trusted_target(), options), Kind::key_refused,
                   "there is no key. The host takes nothing but keys: make one with ssh-keygen");
    make_key(options.ssh_folder + "/id_ed25519");
    const auto refused = open_first(sshd_->trusted_target(), options);
    VERIFY_REFUSED(refused, Kind::key_refused, "id_ed25519: refused");
    VERIFY_REFUSED(refused, Kind::key_refused,
                   "have its administrator add your public key to the authorized_keys of root");
  }

  void a_key_with_a_passphrase_needs_the_agent() {
    QTemporaryDir folder;
    ConnectOptions options = sshd_->connect_options();
    options.ssh_folder = folder.path().toStdString();
    const std::string key = options.ssh_folder + "/id_ed25519";
    make_key(key, "secret");
    sshd_->let_in(key + ".pub");
    VERIFY_REFUSED(open_first(sshd_->trusted_target(), options), Kind::key_refused,
                   "ssh-add " + key);

    // The agent with an open key of the same host.
    QProcess agent;
    const QString socket = folder.filePath("agent");
    agent.start("ssh-agent", {"-D", "-a", socket});
    QVERIFY(agent.waitForStarted());
    QTRY_VERIFY(QFile::exists(socket));
    qputenv("SSH_AUTH_SOCK", socket.toUtf8());
    run({"ssh-add", "-q", sshd_->user_home() + "/.ssh/id_ed25519"});
    options.use_agent = true;
    VERIFY_RESULT(open_first(sshd_->trusted_target(), options));

    Target only = sshd_->trusted_target();
    only.hosts[0].identities_only = true;
    only.hosts[0].identity_files = {key};
    VERIFY_REFUSED(open_first(only, options), Kind::key_refused, "ssh-add " + key);
    run({"ssh-keygen", "-q", "-p", "-P", "secret", "-N", "", "-f", key});
    run({"ssh-add", "-q", key});
    run({"ssh-keygen", "-q", "-p", "-P", "", "-N", "secret", "-f", key});
    VERIFY_RESULT(open_first(only, options));  // the agent has opened it
    qunsetenv("SSH_AUTH_SOCK");
    agent.kill();
    agent.waitForFinished();
  }

  void a_configured_key_file_is_used() {
    QTemporaryDir folder;
    ConnectOptions options = sshd_->connect_options();
    options.ssh_folder = folder.path().toStdString();
    Target target = sshd_->trusted_target();
    target.hosts[0].identity_files = {"/nowhere/key", sshd_->user_home() + "/.ssh/id_ed25519"};
    VERIFY_RESULT(open_first(target, options));
    target.hosts[0].identity_files = {std::string(kNoIdentity)};
    VERIFY_REFUSED(open_first(target, sshd_->connect_options()), Kind::key_refused, "no key");
    target.hosts[0].identity_files = {"/nowhere/key"};
    VERIFY_REFUSED(open_first(target, options), Kind::key_refused, "/nowhere/key: no such file");
  }

  void a_host_that_does_not_answer_is_named() {
    const Silence mute(8);
    VERIFY_REFUSED(open_first(mute.target(), soon()), Kind::unreachable,
                   "does not answer as an SSH server");
    Silence full(0);
    full.fill();
    VERIFY_REFUSED(open_first(full.target(), soon()), Kind::unreachable, "silent: no answer from");

    Target closed = sshd_->target();
    closed.hosts[0].port = 1;
    VERIFY_REFUSED(open_first(closed, soon()), Kind::unreachable,
                   "node: no connection to 127.0.0.1 port 1: Connection refused");
    closed.hosts[0].name = closed.hosts[0].address;  // nothing is said twice
    const auto said = open_first(closed, soon());
    QVERIFY(!said);
    QVERIFY2(said.error().message.starts_with("no connection to 127.0.0.1 port 1: "),
             said.error().message.c_str());
    Target unknown = sshd_->target();
    unknown.hosts[0].address = "no-such-host.invalid";
    const auto refused = open_first(unknown, soon());
    VERIFY_REFUSED(refused, Kind::unreachable, "no-such-host.invalid");
  }

  void a_connection_leaves_nothing_open_whatever_comes_of_it() {
    QTemporaryDir empty;
    ConnectOptions no_keys = sshd_->connect_options();
    no_keys.ssh_folder = empty.path().toStdString();
    Target jumping = sshd_->trusted_target();
    jumping.hosts[0].jump = fmt::format("root@127.0.0.1:{}", sshd_->port());
    const auto all = [&] {
      QVERIFY(sshd_->connected());
      QVERIFY(open_first(jumping, sshd_->connect_options()));
      VERIFY_REFUSED(open_first(sshd_->target(), sshd_->connect_options()), Kind::host_key_unknown,
                     "is unknown");
      VERIFY_REFUSED(open_first(sshd_->trusted_target(), no_keys), Kind::key_refused,
                     "there is no key");
    };
    all();
    const size_t before = open_files();
    all();
    QCOMPARE(open_files(), before);
  }

  void a_host_behind_another_is_reached_through_it() {
    const auto behind = test::Sshd::start();
    VERIFY_RESULT(behind);
    (*behind)->let_in(sshd_->user_home() + "/.ssh/id_ed25519.pub");
    Target target = (*behind)->target();
    target.hosts[0].jump = fmt::format("root@127.0.0.1:{}", sshd_->port());

    const auto first = open_first(target, sshd_->connect_options());
    VERIFY_REFUSED(first, Kind::host_key_unknown, sshd_->fingerprint());
    target.accepted_keys.push_back(first.error().key);
    const auto second = open_first(target, sshd_->connect_options());
    VERIFY_REFUSED(second, Kind::host_key_unknown, (*behind)->fingerprint());
    target.accepted_keys.push_back(second.error().key);
    auto node = open_first(target, sshd_->connect_options());
    VERIFY_RESULT(node);

    const std::string bytes(5'000'000, 'x');
    VERIFY_RESULT((*node)->put_bytes(bytes, (*behind)->home_there() + "/file", 0644));
    QCOMPARE(std::filesystem::file_size((*behind)->node_home() + "/file"), bytes.size());
    QCOMPARE((*node)->read((*behind)->home_there() + "/file").value_or(""), bytes);
    sshd_->stop();
    QTRY_VERIFY_WITH_TIMEOUT(!(*node)->connected(), 30000);
    QVERIFY(sshd_->start_again());
  }
};

HEDDLE_TEST(ConnectTest)
#include "connect_test.moc"
