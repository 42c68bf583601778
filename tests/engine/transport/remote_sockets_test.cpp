// Ranks that connect to each other over loopback, and strangers that get in between.
#include "engine/transport/remote_sockets.h"

#include <QTest>
#include <array>
#include <cstring>
#include <future>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "engine/transport/door.h"
#include "tests/support/test_class.h"

using namespace heddle;
using std::chrono::milliseconds;
using transport::RemoteSockets;

namespace {

using Connected = Result<std::vector<RemoteSockets>>;

transport::Credentials credentials_here() {
  return {*Secret::from_hex(std::string(64, 'a')), "run/0"};
}

std::future<Connected> join(c10d::Store& store, int rank, std::vector<bool> remote,
                            milliseconds timeout = std::chrono::seconds(20)) {
  return std::async(std::launch::async, [&store, rank, remote = std::move(remote), timeout] {
    return transport::connect_ranks(store, rank, remote, "test", "127.0.0.1", credentials_here(),
                                    timeout);
  });
}

// One number, over the connection from one rank to the other.
void say(transport::Channel& to, int number) {
  std::array<uint8_t, sizeof(int)> bytes{};
  std::memcpy(bytes.data(), &number, sizeof(number));
  QVERIFY(transport::send_whole(to, bytes, milliseconds(5000)));
}
int hear(transport::Channel& from) {
  std::array<uint8_t, sizeof(int)> bytes{};
  const auto got = transport::receive_some(from, bytes, milliseconds(5000));
  int number = -1;
  if (got && *got == sizeof(number)) std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

// Where a rank listens.
uint16_t port_of(c10d::Store& store, int rank) {
  const auto said = store.get("tcp/" + std::to_string(rank));
  return static_cast<uint16_t>(std::stoi(std::string(said.begin(), said.end()).substr(10)));
}

}  // namespace

class RemoteSocketsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Rank 1 shares a host with rank 0, rank 2 is alone.
  void each_pair_has_a_socket_an_exchange() {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    auto first = join(*store, 0, {false, false, true});
    auto second = join(*store, 1, {false, false, true});
    auto third = join(*store, 2, {true, true, false});
    std::vector<Connected> ranks;
    for (auto* each : {&first, &second, &third}) ranks.push_back(each->get());
    for (const Connected& rank : ranks) QVERIFY2(rank, rank ? "" : rank.error().message.c_str());
    QCOMPARE((*ranks[0])[1][0].fd(), -1);
    for (int rank : {0, 1})
      for (int exchange : {0, 1}) {
        const int sent = 10 * rank + exchange;
        say((*ranks[rank])[2][exchange], sent);
        QCOMPARE(hear((*ranks[2])[rank][exchange]), sent);
      }
  }

  // Silent, gone, and one who speaks as a rank would but knows another secret.
  void strangers_are_turned_away() {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    auto first = join(*store, 0, {false, true});
    const uint16_t port = port_of(*store, 0);
    connect_to("127.0.0.1", port, milliseconds(5000));  // says nothing and goes
    const auto silent = connect_to("127.0.0.1", port, milliseconds(5000));
    QVERIFY(silent);
    transport::Credentials wrong{*Secret::from_hex(std::string(64, 'b')), "run/0"};
    const auto liar = transport::knock("127.0.0.1", port, wrong, {"links of test", 1, 0, 0},
                                       milliseconds(5000), false);
    QVERIFY(!liar);
    const auto said = QString::fromStdString(liar.error().message);
    QVERIFY2(
        said.startsWith(QString("127.0.0.1 port %1: it does not know this run's secret").arg(port)),
        qPrintable(said));
    auto second = join(*store, 1, {true, false});
    Connected ranks[] = {first.get(), second.get()};
    for (const Connected& rank : ranks) QVERIFY2(rank, rank ? "" : rank.error().message.c_str());
    say((*ranks[1])[0][0], 7);
    QCOMPARE(hear((*ranks[0])[1][0]), 7);
    // Nothing listens any more.
    QVERIFY(!connect_to("127.0.0.1", port, milliseconds(5000)));
  }

  void a_rank_that_does_not_come_is_an_error() {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    const Connected alone = join(*store, 0, {false, true}, milliseconds(50)).get();
    QVERIFY(!alone);
    const QString said = QString::fromStdString(alone.error().message);
    QCOMPARE(said, "nothing came of rank 1 of another host within 50 ms");
  }
};

HEDDLE_TEST(RemoteSocketsTest)
#include "remote_sockets_test.moc"
