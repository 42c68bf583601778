// Other ways to a host than a plain connection and a key: a ProxyCommand, a connection that ssh
// holds open, a person's answers, certificates that are named. All against a real sshd.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <QtTest>
#include <array>
#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "remote/ask_on_terminal.h"
#include "remote/connect.h"
#include "remote/interactive.h"
#include "remote/sha256.h"
#include "tests/support/results.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;

namespace {

namespace fs = std::filesystem;

void do_well(const std::vector<std::string>& argv) {
  process::Command command;
  command.argv = argv;
  const auto completed = process::run(command);
  if (!completed || completed->exit_code != 0) qFatal("%s failed", argv[0].c_str());
}

std::unique_ptr<test::Sshd> start_host(const test::SshdOptions& options = {}) {
  return must(test::Sshd::start(options));
}

Command command_words(std::vector<std::string> argv) {
  Command command;
  command.argv = std::move(argv);
  return command;
}

/// The processes of this one that run the program.
std::vector<pid_t> processes_of(const std::string& program) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream stat(entry.path() / "stat");
    int pid = 0, parent = 0;
    std::string name, state;
    if (stat >> pid >> name >> state >> parent && parent == getpid() &&
        name == "(" + program + ")" && state != "Z")
      found.push_back(pid);
  }
  return found;
}

/// The user's own `ssh -M` to the node, with the node's key.
class Master {
 public:
  explicit Master(const test::Sshd& sshd) : path_(folder_.filePath("m").toStdString()) {
    process_.start("ssh", {"-F", "none", "-N", "-M", "-S", QString::fromStdString(path_), "-i",
                           QString::fromStdString(sshd.user_home() + "/.ssh/id_ed25519"), "-o",
                           "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-p",
                           QString::number(sshd.port()), "root@127.0.0.1"});
    if (!process_.waitForStarted() || !QTest::qWaitFor([&] { return fs::exists(path_); }, 30000))
      qFatal("no master");
  }
  ~Master() { stop(); }
  void stop() {
    process_.terminate();
    process_.waitForFinished();
  }
  const std::string& path() const { return path_; }

 private:
  QTemporaryDir folder_;
  const std::string path_;
  QProcess process_;
};

/// Answers for connections as long as it lives, and keeps their questions.
class Person {
 public:
  explicit Person(Asker answers) {
    set_asker([this, answers = std::move(answers)](const Questions& questions) {
      heard.push_back(questions);
      return answers(questions);
    });
  }
  ~Person() { set_asker({}); }
  std::vector<Questions> heard;
};

std::string why_not(const Target& target, const ConnectOptions& options) {
  const auto node = remote::connect(target, target.hosts[0], options);
  return node ? "it let us in" : node.error().message;
}

std::string why_not(const test::Sshd& sshd) {
  return why_not(sshd.trusted_target(), sshd.connect_options());
}

}  // namespace

#define VERIFY_TELLS(text, part)                                              \
  do {                                                                        \
    const std::string whole_text = (text);                                    \
    QVERIFY2(whole_text.find(part) != std::string::npos, whole_text.c_str()); \
  } while (false)

class WaysTest : public QObject {
  Q_OBJECT

  std::unique_ptr<test::Sshd> sshd_;

  /// The way to sshd_ through a program.
  Target by_command(const std::string& command) const {
    Target target = sshd_->trusted_target();
    target.hosts[0].proxy_command = command;
    return target;
  }
  auto open(const Target& target) const {
    return remote::connect(target, target.hosts[0], sshd_->connect_options());
  }
  /// A person who has no key.
  ConnectOptions keyless() const {
    ConnectOptions options = sshd_->connect_options();
    options.ssh_folder = nothing_.path().toStdString();
    return options;
  }
  QTemporaryDir nothing_;

 private Q_SLOTS:
  void initTestCase() {
    if (const std::string missing = test::Sshd::missing(); !missing.empty()) QSKIP(missing.c_str());
    qunsetenv("SSH_AUTH_SOCK");
    qputenv("SHELL", "/bin/sh");
    sshd_ = start_host();
  }

  void a_command_is_the_connection() {
    // As people write it: through another host, by ssh itself.
    const auto gate = start_host();
    const std::string key = gate->user_home() + "/.ssh/id_ed25519";
    const Target target = by_command(fmt::format(
        "ssh -F none -i {} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -W "
        "127.0.0.1:{} -p {} root@127.0.0.1",
        key, sshd_->port(), gate->port()));
    auto node = open(target);
    VERIFY_RESULT(node);
    QCOMPARE(processes_of("ssh").size(), size_t{1});
    QCOMPARE(must((*node)->run(command_words({"printf", "%s", "it's there"}))).out,
             std::string("it's there"));
    QTemporaryDir folder;
    const std::string from = folder.filePath("file").toStdString();
    std::ofstream(from) << std::string(20 << 20, 'x');
    const std::string hash = must(sha256_of_file(from));
    VERIFY_RESULT((*node)->put_file({from, test::Sshd::home_there() + "/file", hash, 0600}, {}));
    QCOMPARE(must(sha256_of_file(sshd_->node_home() + "/file")), hash);
    node->reset();
    QCOMPARE(processes_of("ssh").size(), size_t{0});

    node = open(target);
    VERIFY_RESULT(node);
    kill(processes_of("ssh").at(0), SIGKILL);
    QTRY_VERIFY_WITH_TIMEOUT(!(*node)->connected(), 30000);
    VERIFY_SAYS((*node)->stat("/"), "node: the connection is lost");
  }

  void a_commands_words_are_in_the_error_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("told");
    QTest::newRow("its words") << "sh -c 'echo no ticket today >&2; exit 3'"
                               << "exit 3' ended with exit code 3: no ticket today. It connects "
                                  "without a terminal";
    QTest::newRow("no such program") << "no-such-program"
                                     << "ended with exit code 127: ";
    QTest::newRow("silence") << "true"
                             << "ProxyCommand true ended with exit code 0: it said nothing";
    QTest::newRow("asks") << "sh -c 'read answer < /dev/tty'"
                          << "cannot open /dev/tty";
  }
  void a_commands_words_are_in_the_error() {
    QFETCH(QString, command);
    QFETCH(QString, told);
    VERIFY_TELLS(why_not(by_command(command.toStdString()), sshd_->connect_options()),
                 told.toStdString());
  }

  void a_command_that_waits_is_ended() {
    ConnectOptions options = sshd_->connect_options();
    options.deadline = std::chrono::seconds(1);
    VERIFY_TELLS(why_not(by_command("sh -c 'echo still dialling >&2; sleep 61234'"), options),
                 "says: still dialling");
    QCOMPARE(must(process::run(command_words({"pgrep", "-f", "sleep 61234"}))).exit_code, 1);
    // One that tells more than anybody reads goes on.
    VERIFY_RESULT(open(by_command(fmt::format(
        "sh -c 'head -c 3000000 /dev/zero >&2; exec bash -c \"exec 3<>/dev/tcp/127.0.0.1/{}; cat "
        "<&3 & exec cat >&3\"'",
        sshd_->port()))));
  }

  void a_masters_connection_is_gone_through() {
    Master master(*sshd_);
    Target target = sshd_->target();  // whose key nobody has accepted: ssh has
    target.hosts[0].control_path = master.path();
    auto node = remote::connect(target, target.hosts[0], keyless());
    VERIFY_RESULT(node);
    Node& host = **node;
    const auto said =
        must(host.run(command_words({"sh", "-c", "cat; echo \"$1\" >&2; exit 7", "x", "a\nb"})));
    QCOMPARE(said.exit_code, 7);
    QCOMPARE(said.err, std::string("a\nb\n"));
    Command echo = command_words({"cat"});
    echo.input = std::string(3 << 20, 'y') + "end";
    echo.most_output = 8 << 20;
    QVERIFY(must(host.run(echo)).out == echo.input);

    QTemporaryDir folder;
    const std::string from = folder.filePath("file").toStdString();
    std::ofstream(from) << std::string(20 << 20, 'z');
    const std::string hash = must(sha256_of_file(from));
    const std::string there = test::Sshd::home_there() + "/mastered";
    VERIFY_RESULT(host.put_file({from, there, hash, 0600}, {}));
    QCOMPARE(must(sha256_of_file(sshd_->node_home() + "/mastered")), hash);
    QCOMPARE(must(host.read(there, (20 << 20) - 2)), std::string("zz"));

    Command late = command_words({"sh", "-c", "sleep 600; echo $$"});
    late.deadline = std::chrono::milliseconds(300);
    VERIFY_SAYS(host.run(late), "node: sh did not end within 0.3 s and was stopped");
    QCOMPARE(must(host.run(command_words({"pgrep", "-x", "sleep"}))).exit_code, 1);

    master.stop();
    QTRY_VERIFY_WITH_TIMEOUT(!host.connected(), 30000);
    VERIFY_SAYS(host.stat("/"), "node: the connection is lost");
    // Where there is none, Heddle connects by itself.
    VERIFY_TELLS(why_not(target, keyless()), "host key");
    target.accepted_keys = sshd_->trusted_target().accepted_keys;
    VERIFY_RESULT(open(target));
  }

  void a_masters_socket_is_the_users_own() {
    Master master(*sshd_);
    Target target = sshd_->trusted_target();
    target.hosts[0].control_path = master.path();
    QCOMPARE(chown(master.path().c_str(), 65534, 65534), 0);
    VERIFY_TELLS(why_not(target, keyless()), "does not let root in");
  }

  void a_host_to_go_through_is_left_to_its_master() {
    const auto gate = start_host();
    Master master(*gate);
    Target target = sshd_->trusted_target();
    target.hosts[0].jump = fmt::format("root@127.0.0.1:{}", gate->port());
    // The gate knows none of the keys that the host does, and nobody knows its own.
    QVERIFY(!open(target));
    target.hosts[0].jump_control_path = master.path();
    auto node = open(target);
    VERIFY_RESULT(node);
    QCOMPARE(must((*node)->home()), std::string("/root"));
    target.hosts[0].port = 1;
    VERIFY_TELLS(why_not(target, sshd_->connect_options()),
                 "ssh through 127.0.0.1 ended with exit");
  }

  void a_person_answers() {
    test::SshdOptions options;
    options.questions = true;
    options.config = "AuthenticationMethods publickey,keyboard-interactive\n";
    const auto host = start_host(options);
    const Target target = host->trusted_target();
    const auto open_it = [&](const ConnectOptions& how) {
      return remote::connect(target, target.hosts[0], how);
    };
    VERIFY_TELLS(why_not(*host),
                 "and then asks for more (keyboard-interactive): nobody can be "
                 "asked here. Log in from a terminal");
    {
      const Person person([](const Questions&) -> Result<Answers> { return fail("no time"); });
      VERIFY_TELLS(why_not(*host), "(keyboard-interactive): no time");
      QCOMPARE(person.heard.size(), size_t{1});
    }
    {
      const Person person([](const Questions& asked) -> Result<Answers> {
        return Answers(asked.prompts.size(), "wrong");
      });
      VERIFY_TELLS(why_not(*host), "your answers were not right, 3 times");
      QVERIFY(!person.heard.front().refused);
      QVERIFY(person.heard.back().refused);
    }
    const Person person([](const Questions& asked) {
      // Longer than a host may take to answer.
      if (asked.prompts[0].echo) QThread::msleep(2500);
      return test::answers_of(asked);
    });
    ConnectOptions how = host->connect_options();
    how.deadline = std::chrono::seconds(2);
    auto node = open_it(how);
    VERIFY_RESULT(node);
    QCOMPARE(person.heard.size(), size_t{2});
    QCOMPARE(person.heard[0].host, std::string("node (root@127.0.0.1)"));
    QVERIFY(person.heard[0].text.find("for the lab") != std::string::npos);
    QVERIFY(person.heard[0].prompts[0].text.find("Your loom: ") != std::string::npos);
    QVERIFY(person.heard[0].prompts[0].echo);
    QVERIFY(person.heard[1].prompts[0].text.find("Code for ") != std::string::npos);
    QVERIFY(!person.heard[1].prompts[0].echo);

    // As long as that connection lives, nobody is asked again.
    node->reset();
    auto again = open_it(how);
    VERIFY_RESULT(again);
    QCOMPARE(must((*again)->home()), std::string("/root"));
    QCOMPARE(person.heard.size(), size_t{2});
    // Another target must have accepted the host's key itself.
    Target untrusting = host->target();
    QVERIFY(!remote::connect(untrusting, untrusting.hosts[0], how));

    host->stop();
    QTRY_VERIFY_WITH_TIMEOUT(!(*again)->connected(), 30000);
    VERIFY_RESULT(host->start_again());
    how.background = true;
    VERIFY_RESULT(open_it(how));
    QVERIFY(person.heard.back().background);
    QCOMPARE(person.heard.size(), size_t{4});
  }

  void answers_alone_let_in() {
    test::SshdOptions options;
    options.questions = true;
    options.config = "AuthenticationMethods keyboard-interactive\n";
    const auto host = start_host(options);
    VERIFY_TELLS(why_not(*host),
                 "node: the host takes no keys of root, it asks questions "
                 "(keyboard-interactive): nobody can be asked here");
    const Person person(test::answers_of);
    Target target = host->trusted_target();
    VERIFY_RESULT(remote::connect(target, target.hosts[0], host->connect_options()));

    // Through that host, with one set of answers for both.
    target = sshd_->trusted_target();
    target.hosts[0].jump = fmt::format("root@127.0.0.1:{}", host->port());
    target.accepted_keys.push_back(host->trusted_target().accepted_keys[0]);
    VERIFY_RESULT(open(target));
    VERIFY_RESULT(open(target));
    QCOMPARE(person.heard.size(), size_t{4});
  }

  // As a person at a terminal: what they see, and what they are taken to have answered.
  void a_terminal_asks_data() {
    QTest::addColumn<QByteArray>("typed");
    QTest::addColumn<QString>("answers");
    QTest::newRow("answers") << QByteArray(
                                    "12\x7f"
                                    "3\n")
                             << "jacquard 13";
    QTest::newRow("another line") << QByteArray(
                                         "12\x15"
                                         "ol\xc3\xa9\x7f\n")
                                  << "jacquard ol";
    QTest::newRow("Ctrl+C") << QByteArray("1\x03") << "you gave no answer";
  }
  void a_terminal_asks() {
    QFETCH(QByteArray, typed);
    QFETCH(QString, answers);
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    QVERIFY(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const std::string name = ptsname(terminal);
    std::array<int, 2> ends{};
    QCOMPARE(pipe2(ends.data(), O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
      setsid();
      const int its_own = ::open(name.c_str(), O_RDWR);
      const auto given = ask_on_terminal({.host = "node (root@127.0.0.1)",
                                          .text = "for the\x1b[2J lab",
                                          .prompts = {{"Your loom: ", true}, {"Code: ", false}}});
      const std::string text = given ? (*given)[0] + " " + (*given)[1] : given.error().message;
      termios after{};
      tcgetattr(its_own, &after);
      const bool as_before = after.c_lflag & ECHO;
      _exit(as_before && write(ends[1], text.data(), text.size()) > 0 ? 0 : 1);
    }
    close(ends[1]);
    std::string seen;
    const auto see = [&](const char* words) {
      std::array<char, 256> piece{};
      while (seen.find(words) == seen.npos) {
        const ssize_t got = ::read(terminal, piece.data(), piece.size());
        if (got <= 0) return false;
        seen.append(piece.data(), static_cast<size_t>(got));
      }
      return true;
    };
    QVERIFY(see("Your loom: "));
    QCOMPARE(write(terminal, "jacquard\n", 9), ssize_t{9});
    QVERIFY(see("Code: "));
    QCOMPARE(write(terminal, typed.data(), static_cast<size_t>(typed.size())),
             ssize_t{typed.size()});
    std::array<char, 256> given{};
    const ssize_t size = ::read(ends[0], given.data(), given.size());
    int status = 0;
    waitpid(child, &status, 0);
    close(ends[0]);
    close(terminal);
    QCOMPARE(status, 0);
    QCOMPARE(QString::fromUtf8(given.data(), static_cast<int>(size)), answers);
    QVERIFY(seen.find("node (root@127.0.0.1): the host asks before it lets you in:") != seen.npos);
    QVERIFY(seen.find("for the\\u001b[2J lab") != seen.npos);
    QVERIFY(seen.find("jacquard") != seen.npos);
  }

  void without_a_terminal_nobody_is_asked() {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
      setsid();
      const auto given = ask_on_terminal({.host = "node", .prompts = {{"Code: ", false}}});
      _exit(!given && given.error().message == "there is no terminal to ask on" ? 0 : 1);
    }
    waitpid(child, &status, 0);
    QCOMPARE(status, 0);
  }

  void certificates_that_are_named_are_presented() {
    const QTemporaryDir files, user;
    const auto key = [](const QTemporaryDir& folder, const char* name, const char* type) {
      std::string file = folder.filePath(name).toStdString();
      do_well({"ssh-keygen", "-q", "-t", type, "-N", "", "-C", name, "-f", file});
      return file;
    };
    const std::string authority = key(files, "ca", "ed25519");
    test::SshdOptions options;
    options.config = "TrustedUserCAKeys /sshd/ca.pub\nAuthorizedKeysFile none\n";
    options.files = files.path().toStdString();
    const auto host = start_host(options);
    Target target = host->trusted_target();
    ConnectOptions how = keyless();
    for (const char* type : {"ed25519", "rsa", "ecdsa"}) {
      const std::string mine = key(user, type, type);
      do_well({"ssh-keygen", "-q", "-s", authority, "-I", "me", "-n", "root", mine + ".pub"});
      const std::string elsewhere = user.filePath("elsewhere").toStdString();
      fs::rename(mine + "-cert.pub", elsewhere);
      target.hosts[0].certificate_files = {elsewhere};
      VERIFY_TELLS(why_not(target, how), "neither the agent nor a named file has its private key");
      target.hosts[0].identity_files = {mine};
      VERIFY_RESULT(remote::connect(target, target.hosts[0], how));
      // The agent has the key, and no certificate.
      target.hosts[0].identity_files.clear();
      const QString socket = user.filePath("agent");
      QProcess agent;
      agent.start("ssh-agent", {"-D", "-a", socket});
      QVERIFY(QTest::qWaitFor([&] { return QFile::exists(socket); }, 30000));
      qputenv("SSH_AUTH_SOCK", socket.toUtf8());
      fs::rename(elsewhere, user.filePath("cert").toStdString());
      do_well({"ssh-add", "-q", mine});
      target.hosts[0].certificate_files = {user.filePath("cert").toStdString()};
      ConnectOptions with_agent = how;
      with_agent.use_agent = true;
      const auto node = remote::connect(target, target.hosts[0], with_agent);
      qunsetenv("SSH_AUTH_SOCK");
      agent.kill();
      agent.waitForFinished();
      fs::remove(socket.toStdString());
      VERIFY_RESULT(node);
    }
    target.hosts[0].certificate_files = {authority + ".pub", "/no/such/file"};
    const std::string none = why_not(target, how);
    VERIFY_TELLS(none, "ca.pub: is no certificate of a key");
    VERIFY_TELLS(none, "/no/such/file: no such file");
  }

  void kerberos_alone_is_refused_by_name() {
    test::SshdOptions options;
    options.config = "GSSAPIAuthentication yes\nPubkeyAuthentication no\n";
    const std::string why = why_not(*start_host(options));
    VERIFY_TELLS(why,
                 "node: the host lets root in by Kerberos alone (gssapi-with-mic), which "
                 "Heddle does not speak. Let ssh open the connection and keep it");
    VERIFY_TELLS(why, "`kinit`, `ssh -fNM node`");
  }
};

HEDDLE_TEST(WaysTest)
#include "ways_test.moc"
