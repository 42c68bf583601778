// Hostile and broken servers: before anybody has proven who he is, and behind a real sshd that let
// us in. Whatever they do, an operation ends by its deadline and takes little memory.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <QtTest>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <thread>

#include "base/socket.h"
#include "remote/channel.h"
#include "remote/connect.h"
#include "remote/jump.h"
#include "remote/ssh_session.h"
#include "tests/support/accept.h"
#include "tests/support/peak_memory.h"
#include "tests/support/results.h"
#include "tests/support/sshd.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr milliseconds kDeadline{1000};
// Far beyond every deadline here, far below "never".
constexpr seconds kNever{60};
constexpr double kMaxMebibytes = 300;

/// A server that handles each connection with a given function, until it is destroyed.
class Server {
 public:
  using Behaviour = std::function<void(int socket, const std::atomic<bool>& over)>;
  explicit Server(Behaviour behaviour) : listener_(must(listen_on("127.0.0.1", 0))) {
    thread_ = std::thread([this, behaviour = std::move(behaviour)] {
      while (!over_) {
        const auto caller = test::accept_from(listener_, milliseconds(100));
        if (caller) behaviour(caller->fd(), over_);
      }
    });
  }
  ~Server() {
    over_ = true;
    thread_.join();
  }
  uint16_t port() const { return listener_.port(); }

 private:
  Socket listener_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

bool tell(int socket, std::string_view bytes) {
  return send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0 ||
         errno == EAGAIN;
}

void wait_until_over(const std::atomic<bool>& over) {
  while (!over) std::this_thread::sleep_for(milliseconds(10));
}

void flood(int socket, const std::atomic<bool>& over, const std::string& bytes) {
  while (!over && tell(socket, bytes)) {
  }
}

/// The length of an SSH packet, and what comes after it.
std::string packet(uint32_t length, const std::string& rest) {
  std::string bytes(4, '\0');
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(length >> (8 * (3 - i)));
  return bytes + rest;
}

const std::string kBanner = "SSH-2.0-OpenSSH_9.2\r\n";

/// A key exchange that offers nothing that anybody has, of lists that are as long as may be.
std::string key_exchange(const std::string& names) {
  std::string payload = std::string(1, '\x14') + std::string(16, 'c');
  for (int i = 0; i < 10; ++i) payload += packet(static_cast<uint32_t>(names.size()), names);
  payload += std::string(5, '\0');
  const size_t padding = 8 - (payload.size() + 5) % 8 + 4;
  return packet(static_cast<uint32_t>(payload.size() + 1 + padding),
                std::string(1, static_cast<char>(padding)) + payload + std::string(padding, '\0'));
}

}  // namespace

Q_DECLARE_METATYPE(Server::Behaviour)

class HostileServerTest : public QObject {
  Q_OBJECT

  std::unique_ptr<test::Sshd> sshd_;
  QTemporaryDir folder_;

  /// Runs `body`, which must end, and take little memory.
  template <typename Body>
  auto within_bounds(Body body) -> decltype(body()) {
    const PeakMemory peak;
    auto result = std::async(std::launch::async, body);
    if (result.wait_for(kNever) != std::future_status::ready) qFatal("it does not end");
    if (peak.mebibytes() > kMaxMebibytes) qFatal("it took %.0f MiB", peak.mebibytes());
    return result.get();
  }

  /// The host's login shell does this from now on.
  void set_shell(const std::string& shell) {
    if (!sshd_) {
      test::SshdOptions options;
      options.login_shell = test::Sshd::home_there() + "/shell";
      sshd_ = must(test::Sshd::start(options));
    }
    const std::string file = sshd_->node_home() + "/shell";
    std::ofstream(file + ".new") << "#!/bin/sh\n" << shell << "\n";
    std::filesystem::permissions(file + ".new", std::filesystem::perms(0755));
    std::filesystem::rename(file + ".new", file);
  }

  /// A host that lets us in, and whose login shell does this once we are.
  std::unique_ptr<Node> hostile(const std::string& shell) {
    set_shell("exec /bin/sh \"$@\"");
    auto node = sshd_->connected();
    set_shell(shell);
    return node;
  }

 private Q_SLOTS:
  void before_it_lets_us_in_data() {
    QTest::addColumn<Server::Behaviour>("behaviour");
    using Over = const std::atomic<bool>&;
    const auto row = [](const char* name, Server::Behaviour behaviour) {
      QTest::newRow(name) << behaviour;
    };
    row("says nothing", [](int, Over over) { wait_until_over(over); });
    row("hangs up", [](int, Over) {});
    row("hangs up after its banner", [](int socket, Over) { tell(socket, kBanner); });
    row("says nothing after its banner", [](int socket, Over over) {
      tell(socket, kBanner);
      wait_until_over(over);
    });
    row("another protocol", [](int socket, Over over) {
      tell(socket, "HTTP/1.1 400 Bad Request\r\n\r\n");
      wait_until_over(over);
    });
    row("a banner without end",
        [](int socket, Over over) { flood(socket, over, std::string(4096, 'S')); });
    row("lines before the banner without end",
        [](int socket, Over over) { flood(socket, over, "welcome\r\n"); });
    row("a byte now and then", [](int socket, Over over) {
      for (const char byte : kBanner) {
        if (over || !tell(socket, {&byte, 1})) return;
        std::this_thread::sleep_for(milliseconds(500));
      }
    });
    row("zeros", [](int socket, Over over) {
      tell(socket, kBanner);
      flood(socket, over, std::string(4096, '\0'));
    });
    row("noise", [](int socket, Over over) {
      std::string bytes(4096, '\0');
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i * 31 + 7);
      tell(socket, kBanner);
      flood(socket, over, bytes);
    });
    row("a packet of 4 GiB", [](int socket, Over over) {
      tell(socket, kBanner + packet(0xffffffff, "\x06"));
      flood(socket, over, std::string(4096, 'x'));
    });
    row("a packet of 200 KiB that does not come", [](int socket, Over over) {
      tell(socket, kBanner + packet(200 << 10, "\x06\x14"));
      wait_until_over(over);
    });
    row("ignored messages without end", [](int socket, Over over) {
      tell(socket, kBanner);
      // SSH_MSG_IGNORE: padding 4, type 2, an empty string.
      std::string many;
      for (int i = 0; i < 200; ++i)
        many += packet(12, std::string("\x06\x02\0\0\0\0\0\0\0\0\0\0", 12));
      flood(socket, over, many);
    });
    row("algorithms that nobody has", [](int socket, Over over) {
      tell(socket, kBanner + key_exchange("none-of-yours"));
      wait_until_over(over);
    });
    row("lists of algorithms that are too long", [](int socket, Over over) {
      tell(socket, kBanner + key_exchange(std::string(3000, 'a')));
      wait_until_over(over);
    });
    row("a list that is longer than its packet", [](int socket, Over over) {
      tell(socket, kBanner + packet(28, std::string("\x04\x14", 2) + std::string(16, 'c') +
                                            packet(0x7fffffff, "aaaa") + "pad!"));
      wait_until_over(over);
    });
  }
  void before_it_lets_us_in() {
    QFETCH(Server::Behaviour, behaviour);
    const Server server(behaviour);
    Target target;
    target.name = "hostile";
    target.hosts = {must(parse_host(fmt::format("me@127.0.0.1:{}", server.port())))};
    ConnectOptions options;
    options.ssh_folder = folder_.path().toStdString();
    options.deadline = kDeadline;
    const auto connected =
        within_bounds([&] { return remote::connect(target, target.hosts[0], options); });
    QVERIFY(!connected);
    QVERIFY(!connected.error().message.empty());
    QVERIFY(connected.error().message.size() < 2000);
  }

  void after_it_let_us_in_data() {
    QTest::addColumn<QString>("shell");
    QTest::newRow("says nothing") << "exec sleep 1000";
    QTest::newRow("ends at once") << "exit 0";
    QTest::newRow("ends with an error") << "exit 255";
    QTest::newRow("talks without end") << "exec yes";
    QTest::newRow("complains without end") << "exec yes >&2";
    QTest::newRow("zeros without end") << "exec cat /dev/zero";
    QTest::newRow("a word now and then") << "while :; do echo wait; sleep 0.3; done";
    QTest::newRow("ends for no signal") << "trap '' TERM HUP INT PIPE; while :; do sleep 1; done";
    QTest::newRow("closes its streams and stays")
        << "exec < /dev/null > /dev/null 2>&1; sleep 1000";
    QTest::newRow("begins, then says nothing")
        << "echo heddle-output-begins 1; echo heddle-output-begins 1 >&2; exec sleep 1000";
    QTest::newRow("begins, then talks without end")
        << "echo heddle-output-begins 1; echo heddle-output-begins 1 >&2; exec yes";
    QTest::newRow("begins again and again") << "exec yes heddle-output-begins 77";
    QTest::newRow("names a group that is none")
        << "echo 'heddle-output-begins $(reboot) -1'; echo 'heddle-output-begins x' >&2; exec yes";
    QTest::newRow("kills its connection") << "kill -KILL $PPID; sleep 1000";
    QTest::newRow("stops its connection") << "kill -STOP $PPID; sleep 1000";
  }
  void after_it_let_us_in() {
    if (const std::string missing = test::Sshd::missing(); !missing.empty()) QSKIP(missing.c_str());
    QFETCH(QString, shell);
    const auto node = hostile(shell.toStdString());
    QVERIFY(node);
    Command command;
    command.argv = {"/bin/true"};
    command.deadline = kDeadline;
    const auto done = within_bounds([&] { return node->run(command); });
    QVERIFY(!done);  // none of these shells runs the given program
    QVERIFY(done.error().message.size() < 5000);

    // The same from the beginning.
    const Target target = sshd_->trusted_target();
    ConnectOptions options = sshd_->connect_options();
    options.shell_start = kDeadline;
    const auto again =
        within_bounds([&] { return remote::connect(target, target.hosts[0], options); });
    if (again) return;
    const std::string& said = again.error().message;
    QVERIFY(said.size() < 5000);
    const bool is_late = said.find(" did not end within ") != said.npos;
    QVERIFY2(!is_late || said.find(" within 1 s ") != said.npos, said.c_str());
  }

  // Bytes do flow, and it would be heard for ever.
  void a_program_that_talks_on() {
    if (const std::string missing = test::Sshd::missing(); !missing.empty()) QSKIP(missing.c_str());
    const auto sshd = must(test::Sshd::start());
    const Target target = sshd->trusted_target();
    const Host& host = target.hosts[0];
    auto deadline = Clock::now() + kNever;
    auto session = handshake(must(dial(host.address, host.port, deadline)), host,
                             target.accepted_keys, sshd->connect_options(), deadline);
    QVERIFY2(session, session ? "" : session.error().message.c_str());
    SshSession running(host.name, std::make_unique<OwnConnection>(std::move(*session)));
    const Limit limit{.time = kNever, .of = Limit::Of::silence, .most = kDeadline};
    const auto done = within_bounds([&] {
      return running.execute({"/bin/sh", "-c", "while :; do echo more; sleep 0.1; done"}, {},
                             limit);
    });
    VERIFY_SAYS(done, "node: /bin/sh was still talking after 1 s and was stopped");
    QVERIFY(running.connected());
  }

  void sizes_of_files_that_are_none() {
    if (const std::string missing = test::Sshd::missing(); !missing.empty()) QSKIP(missing.c_str());
    const std::string begin = "echo heddle-output-begins 1; echo heddle-output-begins 1 >&2; ";
    for (const std::string answer :
         {"echo 99999999999999999999", "echo 4294967296", "echo -1", "echo", "printf '5\\nabc'"}) {
      const auto node = hostile(begin + answer + "; exit 0");
      QVERIFY(node);
      const auto read = within_bounds([&] {
        return static_cast<Node&>(*node).read(std::vector<Range>{{"/etc/passwd", 0, 1 << 20}});
      });
      QVERIFY2(!read, answer.c_str());
    }
  }

  void an_agent_that_says_nothing() {
    if (const std::string missing = test::Sshd::missing(); !missing.empty()) QSKIP(missing.c_str());
    const std::string path = folder_.filePath("agent").toStdString();
    const Socket agent(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    QCOMPARE(bind(agent.fd(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    QCOMPARE(listen(agent.fd(), 8), 0);
    qputenv("SSH_AUTH_SOCK", QByteArray::fromStdString(path));
    const auto sshd = must(test::Sshd::start());
    const Target target = sshd->trusted_target();
    ConnectOptions options = sshd->connect_options();
    options.use_agent = true;
    options.deadline = seconds(10);  // the agent has half of it
    // The key file does it, once the agent has had its time.
    const auto connected =
        within_bounds([&] { return remote::connect(target, target.hosts[0], options); });
    QVERIFY2(connected, connected ? "" : connected.error().message.c_str());
    options.ssh_folder = folder_.path().toStdString();
    const auto refused =
        within_bounds([&] { return remote::connect(target, target.hosts[0], options); });
    qunsetenv("SSH_AUTH_SOCK");
    QVERIFY(!refused);
    QVERIFY2(refused.error().message.find("the agent: it does not answer") != std::string::npos,
             refused.error().message.c_str());
  }
};

HEDDLE_TEST(HostileServerTest)
#include "hostile_server_test.moc"
