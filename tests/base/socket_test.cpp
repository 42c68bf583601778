// Real sockets on loopback.
#include "base/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>

#include <QTest>
#include <array>
#include <fstream>
#include <thread>

#include "tests/support/accept.h"
#include "tests/support/test_class.h"

using namespace heddle;
using std::chrono::milliseconds;

namespace {

std::string congestion_control(const Socket& socket) {
  std::array<char, 16> name{};
  socklen_t length = name.size();
  getsockopt(socket.fd(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &length);
  return name.data();
}

// Moves the calling thread to a network of its own, with BBR as what its sockets use.
bool enter_network_with_bbr() {
  if (unshare(CLONE_NEWNET) != 0 || std::system("ip link set lo up") != 0) return false;
  std::ofstream("/proc/sys/net/ipv4/tcp_congestion_control") << "bbr";
  std::string now;
  std::ifstream("/proc/sys/net/ipv4/tcp_congestion_control") >> now;
  return now == "bbr";
}

}  // namespace

class SocketTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void what_is_sent_arrives_data() {
    QTest::addColumn<QString>("host");
    QTest::newRow("IPv4") << "127.0.0.1";
    QTest::newRow("IPv6") << "::1";
    QTest::newRow("a name") << "localhost";
  }
  void what_is_sent_arrives() {
    QFETCH(QString, host);
    const auto listener = listen_on(host.toStdString(), 0);
    if (!listener && host == "::1") QSKIP("this machine has no IPv6");
    QVERIFY2(listener, listener ? "" : listener.error().message.c_str());
    const auto caller = connect_to(host.toStdString(), listener->port(), milliseconds(5000));
    QVERIFY2(caller, caller ? "" : caller.error().message.c_str());
    const auto answerer = test::accept_from(*listener, milliseconds(5000));
    QVERIFY2(answerer, answerer ? "" : answerer.error().message.c_str());
    const std::array<int, 3> sent{1, 2, 3};
    std::array<int, 3> got{};
    QVERIFY(send_all(*caller, sent.data(), sizeof(sent)));
    QVERIFY(receive_all(*answerer, got.data(), sizeof(got), milliseconds(5000)));
    QCOMPARE(got, sent);
  }

  void what_the_system_paces_is_not_paced_here() {
    bool entered = false;
    std::array<std::string, 3> used;
    std::thread([&] {
      entered = enter_network_with_bbr();
      if (!entered) return;
      const auto listener = listen_on("127.0.0.1", 0);
      const auto caller = connect_to("127.0.0.1", listener->port(), milliseconds(5000));
      const auto answerer = test::accept_from(*listener, milliseconds(5000));
      used = {congestion_control(*listener), congestion_control(*caller),
              congestion_control(*answerer)};
    }).join();
    if (!entered) QSKIP("needs root, iproute2, and a kernel that has BBR");
    for (const std::string& name : used) QVERIFY2(name == "cubic" || name == "reno", name.c_str());
  }

  void what_cannot_be_done_is_said() {
    const auto listener = listen_on("127.0.0.1", 0);
    QVERIFY(listener);
    const uint16_t port = listener->port();
    QCOMPARE(message(listen_on("127.0.0.1", port)),
             QString("cannot listen on 127.0.0.1 port %1: Address already in use").arg(port));
    QVERIFY(message(listen_on("no.such.host.invalid", 0))
                .startsWith("cannot listen on no.such.host.invalid port 0: host "
                            "no.such.host.invalid: "));
  }

  void nobody_listens_there() {
    uint16_t port = 0;
    {
      const auto listener = listen_on("127.0.0.1", 0);
      QVERIFY(listener);
      port = listener->port();
    }
    QCOMPARE(message(connect_to("127.0.0.1", port, milliseconds(5000))),
             QString("cannot connect to 127.0.0.1 port %1: Connection refused").arg(port));
  }

  void the_other_side_ends() {
    const auto listener = listen_on("127.0.0.1", 0);
    QVERIFY(listener);
    connect_to("127.0.0.1", listener->port(), milliseconds(5000));  // and closed at once
    const auto answerer = test::accept_from(*listener, milliseconds(5000));
    QVERIFY(answerer);
    int got = 0;
    QCOMPARE(message(receive_all(*answerer, &got, sizeof(got), milliseconds(5000))),
             QString("cannot receive: the connection has ended"));
  }

 private:
  template <typename T>
  static QString message(const Result<T>& result) {
    return result ? "no error" : QString::fromStdString(result.error().message);
  }
};

HEDDLE_TEST(SocketTest)
#include "socket_test.moc"
