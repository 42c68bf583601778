// An eavesdropper between two ranks of different networks, and its means (support/relay.h).
#include <sched.h>
#include <unistd.h>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "tests/support/relay.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

struct EndedPair {
  int exit_code = -1;
  QString out, err;
};

// The length of rank 0's answer and welcome: whatever comes after them is sealed.
constexpr size_t kHandshake = 64 + 32;

}  // namespace

class WireTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  EndedPair finish(QProcess& rank) {
    if (!rank.waitForFinished(60000)) rank.kill();
    rank.waitForFinished(-1);
    return {rank.exitStatus() == QProcess::NormalExit ? rank.exitCode() : -1,
            QString(rank.readAllStandardOutput()).trimmed(),
            QString(rank.readAllStandardError()).trimmed()};
  }

  void start(QProcess& rank, int network, int number, bool encrypt) {
    rank.setChildProcessModifier([network] {
      if (setns(network, CLONE_NEWNET) != 0) _exit(126);
    });
    QStringList arguments{"canary",
                          "--store",
                          "127.0.0.1:4711",
                          "--secret",
                          folder_.filePath("secret"),
                          "--size",
                          "2",
                          "--rank",
                          QString::number(number),
                          "--timeout",
                          "20000"};
    if (encrypt) arguments << "--encrypt";
    rank.start(QString(HEDDLE_BINARY_DIR) + "/transport_rank", arguments);
  }

  std::array<EndedPair, 2> run(Relay& relay, bool first, bool second) {
    QProcess ranks[2];
    start(ranks[0], relay.first(), 0, first);
    start(ranks[1], relay.second(), 1, second);
    const EndedPair last = finish(ranks[1]);
    // Rank 0 of a run that cannot meet waits for its timeout.
    if (first != second) ranks[0].kill();
    return {finish(ranks[0]), last};
  }

 private Q_SLOTS:
  void initTestCase() {
    if (geteuid() != 0) QSKIP("needs root, to make network namespaces");
    if (const Relay relay; !relay.refusal().empty()) QSKIP(relay.refusal().c_str());
    QFile file(folder_.filePath("secret"));
    QVERIFY(file.open(QFile::WriteOnly) &&
            file.setPermissions(QFile::ReadOwner | QFile::WriteOwner) &&
            file.write(QByteArray(64, '7')) == 64);
  }

  void what_is_heard_data() {
    QTest::addColumn<bool>("encrypt");
    QTest::newRow("in clear") << false;
    QTest::newRow("encrypted") << true;
  }
  void what_is_heard() {
    QFETCH(bool, encrypt);
    Relay relay;
    for (const EndedPair& rank : run(relay, encrypt, encrypt)) {
      QVERIFY2(rank.exit_code == 0, qPrintable(rank.err));
      QCOMPARE(rank.out, "gathered over tcp");
    }
    std::string weights;
    const float weight = 1234.5678f;
    for (int i = 0; i < 8; ++i) weights.append(reinterpret_cast<const char*>(&weight), 4);
    size_t bytes = 0;
    bool key = false, values = false;
    for (const std::string& heard : relay.heard()) {
      bytes += heard.size();
      key |= heard.find("canary/card") != std::string::npos;
      values |= heard.find(weights) != std::string::npos;
    }
    QVERIFY2(bytes > 2 * 800000, "all of it went through");
    QCOMPARE(key, !encrypt);
    QCOMPARE(values, !encrypt);
  }

  void what_is_changed_ends_it_by_name_data() {
    QTest::addColumn<int>("connection");
    QTest::addColumn<int>("byte");
    QTest::newRow("a reply of the store") << 0 << 10;
    QTest::newRow("gathered weights") << 1 << 100000;
    QTest::newRow("the header of a collective") << 1 << 10;
    QTest::newRow("the length of a record") << 1 << 1;
  }
  void what_is_changed_ends_it_by_name() {
    QFETCH(int, connection);
    QFETCH(int, byte);
    Relay relay;
    relay.change(size_t(connection), kHandshake + size_t(byte));
    const auto [first, second] = run(relay, true, true);
    QCOMPARE(second.exit_code, 1);
    QCOMPARE(first.exit_code, 1);
    const QString changed =
        "has sent what does not authenticate: somebody changes it on the way, or the two sides run "
        "different engines";
    QVERIFY2(second.err.contains((connection == 0 ? "rank 0 cannot be asked: it " : "rank 0 ") +
                                 changed),
             qPrintable(second.err));
    // The first rank tells the other one, as far as there is still a way to.
    if (connection == 1) QVERIFY2(first.err.contains("rank 0 " + changed), qPrintable(first.err));
  }

  void in_clear_nobody_sees_a_change() {
    Relay relay;
    relay.change(1, kHandshake + 100000);
    const auto [first, second] = run(relay, false, false);
    QCOMPARE(second.exit_code, 1);
    QVERIFY2(second.err.contains("wrong: gathered"), qPrintable(second.err));
  }

  void hosts_that_disagree_do_not_meet() {
    for (const bool second : {false, true}) {
      Relay relay;
      const EndedPair refused = run(relay, !second, second)[1];
      QCOMPARE(refused.exit_code, 1);
      QVERIFY2(refused.err.contains(
                   QString("transport.encrypt is %1 on rank 1 and %2 on rank 0; all hosts of a run "
                           "need the same recipe")
                       .arg(second ? "true" : "false", second ? "false" : "true")),
               qPrintable(refused.err));
    }
  }
};

HEDDLE_TEST(WireTest)
#include "wire_test.moc"
