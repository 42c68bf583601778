// Hosts as people have them: each kind is a real sshd with that configuration.
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "remote/connect.h"
#include "remote/probe.h"
#include "remote/sha256.h"
#include "tests/support/results.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;
namespace fs = std::filesystem;

namespace {

void run_well(const std::vector<std::string>& argv) {
  process::Command command;
  command.argv = argv;
  const auto completed = process::run(command);
  if (!completed || completed->exit_code != 0) qFatal("%s failed", argv[0].c_str());
}

void make_user_key(const std::string& file, const std::string& type = "ed25519",
                   const std::string& passphrase = {}) {
  run_well({"ssh-keygen", "-q", "-t", type, "-N", passphrase, "-C", fs::path(file).filename(), "-f",
            file});
}

/// A user's agent; $SSH_AUTH_SOCK names it as long as it lives.
class TestAgent {
 public:
  TestAgent() {
    const QString socket = folder_.filePath("agent");
    process_.start("ssh-agent", {"-D", "-a", socket});
    if (!process_.waitForStarted() ||
        !QTest::qWaitFor([&] { return QFile::exists(socket); }, 30000))
      qFatal("no ssh-agent");
    qputenv("SSH_AUTH_SOCK", socket.toUtf8());
  }
  ~TestAgent() {
    qunsetenv("SSH_AUTH_SOCK");
    process_.kill();
    process_.waitForFinished();
  }
  void add(const std::string& key) const { run_well({"ssh-add", "-q", key}); }
  /// Keys that no host knows.
  void add_strangers(int count) {
    for (int i = 0; i < count; ++i, ++strangers_) {
      const std::string key = folder_.filePath("stranger%1").arg(strangers_).toStdString();
      make_user_key(key);
      add(key);
    }
  }

 private:
  QTemporaryDir folder_;
  QProcess process_;
  int strangers_ = 0;
};

std::unique_ptr<test::Sshd> host_with(const std::string& config, const std::string& files = {}) {
  test::SshdOptions options;
  options.config = config;
  options.files = files;
  return must(test::Sshd::start(options));
}

/// Its login shell is bash, whose start-up file this is.
std::unique_ptr<test::Sshd> host_with_bashrc(const std::string& bashrc) {
  test::SshdOptions options;
  options.login_shell = "/bin/bash";
  auto sshd = must(test::Sshd::start(options));
  std::ofstream(sshd->node_home() + "/.bashrc") << bashrc << "\n";
  return sshd;
}

auto open(const test::Sshd& sshd, const ConnectOptions& options) {
  const Target target = sshd.trusted_target();
  return remote::connect(target, target.hosts[0], options);
}

auto open(const test::Sshd& sshd) { return open(sshd, sshd.connect_options()); }

/// Why there is no connection.
std::string refusal(const test::Sshd& sshd, const ConnectOptions& options) {
  const auto node = open(sshd, options);
  return node ? "it let us in" : node.error().message;
}

std::string refusal(const test::Sshd& sshd) { return refusal(sshd, sshd.connect_options()); }

Command shell_command(const std::string& text) {
  Command command;
  command.argv = {"/bin/sh", "-c", text};
  return command;
}

}  // namespace

#define VERIFY_HAS(text, words)                                                \
  do {                                                                         \
    const std::string found_text = (text);                                     \
    QVERIFY2(found_text.find(words) != std::string::npos, found_text.c_str()); \
  } while (false)
#define VERIFY_HAS_NOT(text, words)                                            \
  do {                                                                         \
    const std::string found_text = (text);                                     \
    QVERIFY2(found_text.find(words) == std::string::npos, found_text.c_str()); \
  } while (false)

class FieldHostsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    if (const std::string missing = test::Sshd::missing(); !missing.empty()) QSKIP(missing.c_str());
    qunsetenv("SSH_AUTH_SOCK");
  }

  // conda and modules in ~/.bashrc: longer than a reading may be silent.
  void a_slow_login_shell_is_waited_for() {
    const auto sshd = host_with_bashrc("sleep 10");
    const auto node = open(*sshd);
    QVERIFY2(node, node ? "" : node.error().message.c_str());
    QVERIFY((*node)->greeting().shell_start >= std::chrono::seconds(10));
    const auto read = (*node)->read(std::vector<Range>{{"/etc/hostname", 0, 1000}});
    VERIFY_RESULT(read);
    const auto report = must(probe_node(**node, "~/.heddle"));
    const auto found = std::ranges::find(report.checks, "login shell", &probe::Check::name);
    QVERIFY(found != report.checks.end());
    QCOMPARE(found->status, probe::Status::warn);
    VERIFY_HAS(found->value, "starts in 10.");
    VERIFY_HAS(found->advice, "each operation there takes 10 s");
  }

  void a_fast_login_shell_passes() {
    const auto sshd = host_with_bashrc("echo welcome");
    const auto node = open(*sshd);
    QVERIFY2(node, node ? "" : node.error().message.c_str());
    const auto report = must(probe_node(**node, "~/.heddle"));
    const auto found = std::ranges::find(report.checks, "login shell", &probe::Check::name);
    QVERIFY(found != report.checks.end());
    QCOMPARE(found->status, probe::Status::pass);
  }

  void a_login_shell_that_is_replaced_is_named_data() {
    QTest::addColumn<QString>("bashrc");
    QTest::addColumn<QString>("said");
    QTest::newRow("another shell") << "exec /bin/dash"
                                   << "it said: nothing";
    QTest::newRow("one that is not there") << "exec no-such-shell"
                                           << "no-such-shell: not found";
    QTest::newRow("a program") << "exec cat"
                               << "it said: nothing";
    QTest::newRow("an end") << "echo no more; exit 0"
                            << "it said: no more";
  }
  void a_login_shell_that_is_replaced_is_named() {
    QFETCH(QString, bashrc);
    QFETCH(QString, said);
    const auto sshd = host_with_bashrc(bashrc.toStdString());
    const std::string why = refusal(*sshd);
    VERIFY_HAS(why, "node: the login shell there did not run the command");
    VERIFY_HAS(why, said.toStdString());
    VERIFY_HAS(why, "as `exec zsh` does");
  }

  void a_login_shell_that_reads_its_input_is_named_data() {
    QTest::addColumn<QString>("bashrc");
    QTest::newRow("a line") << "read -p 'Load the modules? ' answer";
    QTest::newRow("all of it") << "cat > /dev/null";
  }
  void a_login_shell_that_reads_its_input_is_named() {
    QFETCH(QString, bashrc);
    const auto sshd = host_with_bashrc(bashrc.toStdString());
    VERIFY_HAS(refusal(*sshd), "(~/.bashrc, ~/.profile …) reads from its input");
  }

  // Input meant for our command would be a script to the program in its place.
  void nothing_is_sent_to_a_shell_that_was_replaced_later() {
    const auto sshd = host_with_bashrc("");
    const auto node = open(*sshd);
    QVERIFY(node);
    std::ofstream(sshd->node_home() + "/.bashrc") << "exec /bin/dash\n";
    Command command = shell_command("touch " + sshd->home_there() + "/was-run");
    command.input = "touch " + sshd->home_there() + "/was-run-too\n";
    command.deadline = std::chrono::seconds(1);
    VERIFY_SAYS((*node)->run(command), "the login shell there has not run the command");
    QVERIFY(!fs::exists(sshd->node_home() + "/was-run"));
    QVERIFY(!fs::exists(sshd->node_home() + "/was-run-too"));
  }

  void programs_take_turns_where_one_session_is_allowed() {
    const auto sshd = host_with("MaxSessions 1\n");
    auto node = open(*sshd);
    QVERIFY2(node, node ? "" : node.error().message.c_str());
    for (int i = 0; i < 50; ++i) QCOMPARE((*node)->home().value_or(""), sshd->home_there());
    const QTemporaryDir folder;
    const std::string from = folder.filePath("file").toStdString();
    std::ofstream(from) << std::string(5'000'000, 'x');
    VERIFY_RESULT(
        (*node)->put_file({from, sshd->home_there() + "/file", *sha256_of_file(from), 0644}, {}));
    QCOMPARE((*node)->run(shell_command("exit 3"))->exit_code, 3);
    QCOMPARE((*node)->run(shell_command("kill -9 $$"))->exit_code, 137);

    // It keeps the only room until it ends, and root's cannot be ended from here.
    Command endless = shell_command("sleep 987");
    endless.deadline = std::chrono::milliseconds(300);
    VERIFY_SAYS((*node)->run(endless), "did not end within 0.3 s");
    const auto after = (*node)->home();
    QVERIFY2(after || !(*node)->connected(), after ? "" : after.error().message.c_str());
    node = open(*sshd);
    QVERIFY(node);
    QCOMPARE((*node)->home().value_or(""), sshd->home_there());
  }

  void a_host_without_room_for_a_program_says_so() {
    VERIFY_HAS(refusal(*host_with("MaxSessions 0\n")), "is MaxSessions of its sshd_config 0");
  }

  void a_named_key_comes_before_the_agents_others() {
    const auto sshd = host_with("MaxAuthTries 3\n");
    TestAgent agent;
    agent.add_strangers(3);
    ConnectOptions options = sshd->connect_options();
    options.use_agent = true;
    const std::string key = sshd->user_home() + "/.ssh/id_ed25519";

    const QTemporaryDir empty;
    ConnectOptions no_files = options;
    no_files.ssh_folder = empty.path().toStdString();
    Target named = sshd->trusted_target();
    named.hosts[0].identity_files = {key};
    QVERIFY(remote::connect(named, named.hosts[0], no_files));

    // As ssh has it, a default file comes last: the agent's keys use up the host's patience.
    const std::string why = refusal(*sshd, options);
    VERIFY_HAS(why, "node: the host cut off after 3 keys");
    VERIFY_HAS(why, "Too many authentication failures");
    VERIFY_HAS(why, "IdentitiesOnly yes in ~/.ssh/config, or --identity");
    VERIFY_HAS_NOT(why, "ssh-copy-id");
    VERIFY_HAS_NOT(why, "does not answer");

    const QTemporaryDir others;
    const std::string wrong = others.filePath("wrong").toStdString();
    make_user_key(wrong);
    Target misnamed = sshd->trusted_target();
    misnamed.hosts[0].identity_files = {wrong};
    const auto cut = remote::connect(misnamed, misnamed.hosts[0], options);
    QVERIFY(!cut);
    VERIFY_HAS(cut.error().message, "The key that is named was among them");

    // Unless the agent holds it, too: then it comes first.
    agent.add(key);
    QVERIFY(open(*sshd, options));
    fs::remove(key);  // which the agent alone has now
    QVERIFY(open(*sshd, options));
    QVERIFY(remote::connect(named, named.hosts[0], no_files));
    Target only = named;
    only.hosts[0].identities_only = true;
    QVERIFY(remote::connect(only, only.hosts[0], no_files));
    only.hosts[0].identity_files = {key + ".pub"};
    QVERIFY(remote::connect(only, only.hosts[0], no_files));
  }

  void six_keys_of_an_agent_and_the_usual_tries() {
    const auto sshd = host_with("");
    TestAgent agent;
    agent.add_strangers(5);
    ConnectOptions options = sshd->connect_options();
    options.use_agent = true;
    QVERIFY(open(*sshd, options));
    agent.add_strangers(1);
    VERIFY_HAS(refusal(*sshd, options), "the host cut off after 6 keys");
    Target named = sshd->trusted_target();
    named.hosts[0].identity_files = {sshd->user_home() + "/.ssh/id_ed25519"};
    QVERIFY(remote::connect(named, named.hosts[0], options));
  }

  void a_second_factor_is_told_from_a_refusal_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("more");
    QTest::newRow("a code") << "AuthenticationMethods publickey,keyboard-interactive\n"
                               "KbdInteractiveAuthentication yes\nUsePAM yes\n"
                            << "(keyboard-interactive)";
    QTest::newRow("a password") << "AuthenticationMethods publickey,password\n"
                                   "PasswordAuthentication yes\n"
                                << "(password)";
    QTest::newRow("another key") << "AuthenticationMethods publickey,publickey\n"
                                 << "(another key)";
  }
  void a_second_factor_is_told_from_a_refusal() {
    QFETCH(QString, config);
    QFETCH(QString, more);
    const auto sshd = host_with(config.toStdString());
    const std::string why = refusal(*sshd);
    VERIFY_HAS(why, fmt::format("node: the host accepts the key {}/.ssh/id_ed25519 and then asks "
                                "for more {}",
                                sshd->user_home(), more.toStdString()));
    VERIFY_HAS_NOT(why, "ssh-copy-id");
    VERIFY_HAS_NOT(why, "refused");
  }

  void two_keys_where_two_are_wanted() {
    const auto sshd = host_with("AuthenticationMethods publickey,publickey\n");
    const std::string second = sshd->user_home() + "/.ssh/id_rsa";
    make_user_key(second, "rsa");
    sshd->let_in(second + ".pub");
    QVERIFY(open(*sshd));
  }

  void ssh_copy_id_is_advised_where_it_can_get_in() {
    const QTemporaryDir folder;
    const auto with_a_stranger = [&](const test::Sshd& sshd) {
      ConnectOptions options = sshd.connect_options();
      options.ssh_folder = folder.path().toStdString();
      return refusal(sshd, options);
    };
    make_user_key(folder.filePath("id_ed25519").toStdString());
    const auto passwords = host_with("PasswordAuthentication yes\n");
    VERIFY_HAS(with_a_stranger(*passwords), "id_ed25519: refused");
    VERIFY_HAS(with_a_stranger(*passwords),
               fmt::format("`ssh-copy-id -p {} root@127.0.0.1`", passwords->port()));
    const std::string keys_only = with_a_stranger(*host_with(""));
    VERIFY_HAS(keys_only, "have its administrator add your public key");
    VERIFY_HAS_NOT(keys_only, "ssh-copy-id");
    const std::string no_keys =
        with_a_stranger(*host_with("PubkeyAuthentication no\nPasswordAuthentication yes\n"));
    VERIFY_HAS(no_keys, "node: the host takes no keys of root, it offers password");
    VERIFY_HAS_NOT(no_keys, "ssh-copy-id");
  }

  void certificates_are_presented_and_asked_for() {
    const QTemporaryDir files, user;
    const std::string authority = files.filePath("ca").toStdString();
    make_user_key(authority);
    const std::string config = "TrustedUserCAKeys /sshd/ca.pub\n";
    const std::string key = user.filePath("id_ed25519").toStdString();
    make_user_key(key);
    const auto sign = [&](const std::string& validity) {
      run_well({"ssh-keygen", "-q", "-s", authority, "-I", "me", "-n", "root", "-V", validity,
                key + ".pub"});
    };
    const auto with_user = [&](const test::Sshd& sshd) {
      ConnectOptions options = sshd.connect_options();
      options.ssh_folder = user.path().toStdString();
      return options;
    };
    const std::string only = "PubkeyAcceptedAlgorithms ssh-ed25519-cert-v01@openssh.com\n";
    const auto sshd = host_with(config + only, files.path().toStdString());
    const std::string plain = refusal(*sshd, with_user(*sshd));
    // The host does not say why it refuses a key.
    VERIFY_HAS(plain, "where it takes certificates only, put yours next to the key");
    VERIFY_HAS_NOT(plain, "ssh-copy-id");

    sign("-1d:+1d");
    QVERIFY(open(*sshd, with_user(*sshd)));
    const auto either = host_with(config, files.path().toStdString());
    QVERIFY(open(*either, with_user(*either)));
    {
      TestAgent agent;
      agent.add(key);  // with its certificate
      ConnectOptions options = with_user(*sshd);
      options.use_agent = true;
      QVERIFY(open(*sshd, options));
    }
    sign("-2d:-1d");
    const std::string expired = refusal(*either, with_user(*either));
    VERIFY_HAS(expired, "with its certificate: refused (is it still valid");
    VERIFY_HAS_NOT(expired, "put yours next to the key");
    VERIFY_HAS(expired, "ssh-keygen -L -f " + key + "-cert.pub");
  }

  void newer_algorithms_alone_are_named_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("words");
    QTest::newRow("key exchange") << "KexAlgorithms sntrup761x25519-sha512@openssh.com\n"
                                  << "no key exchange in common with Heddle's libssh";
    QTest::newRow("cipher") << "Ciphers 3des-cbc\n"
                            << "no cipher in common with Heddle's libssh";
    QTest::newRow("MAC") << "Ciphers aes256-ctr\nMACs umac-64@openssh.com\n"
                         << "no MAC in common with Heddle's libssh";
  }
  void newer_algorithms_alone_are_named() {
    QFETCH(QString, config);
    QFETCH(QString, words);
    const std::string why = refusal(*host_with(config.toStdString()));
    VERIFY_HAS(why, words.toStdString());
    VERIFY_HAS(why, "in sshd_config");
  }

  void a_host_to_go_through_that_forwards_nothing_is_named() {
    const auto gate = host_with("AllowTcpForwarding no\n");
    const auto behind = must(test::Sshd::start());
    behind->let_in(gate->user_home() + "/.ssh/id_ed25519.pub");
    Target target = behind->trusted_target();
    target.hosts[0].jump = fmt::format("root@127.0.0.1:{}", gate->port());
    target.accepted_keys.push_back(gate->trusted_target().accepted_keys[0]);
    const auto node = remote::connect(target, target.hosts[0], gate->connect_options());
    QVERIFY(!node);
    VERIFY_HAS(node.error().message, "it forwards no connections, or not this one");
    VERIFY_HAS(node.error().message, "AllowTcpForwarding");

    const auto open_gate = must(test::Sshd::start());
    behind->let_in(open_gate->user_home() + "/.ssh/id_ed25519.pub");
    target.hosts[0].jump = fmt::format("root@127.0.0.1:{}", open_gate->port());
    target.accepted_keys.push_back(open_gate->trusted_target().accepted_keys[0]);
    target.hosts[0].port = 1;
    const auto closed = remote::connect(target, target.hosts[0], open_gate->connect_options());
    QVERIFY(!closed);
    VERIFY_HAS(closed.error().message, "nobody answers there");
  }
};

HEDDLE_TEST(FieldHostsTest)
#include "field_hosts_test.moc"
