// Groups of real processes: 2, 3 and 4 ranks over memory, over TCP, and over both.
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <memory>
#include <vector>

#include "tests/support/test_class.h"

namespace {

struct Ended {
  int exit_code = -1;
  QString out, err;
};

// Which ranks share a host.
QStringList hosts(const QString& layout, int rank) {
  if (layout == "memory") return {};
  if (layout == "no memory") return {"--no-memory"};
  // Two hosts: ranks alternate.
  const QStringList apart{"--host", rank % 2 ? "b" : "a"};
  return layout == "two hosts, encrypted" ? apart + QStringList{"--encrypt"} : apart;
}

}  // namespace

class TransportTest : public QObject {
  Q_OBJECT

 private:
  using Ranks = std::vector<std::unique_ptr<QProcess>>;
  std::unique_ptr<QTemporaryDir> folder_;

  // The file with what the ranks know each other by.
  QString secret() const {
    const QString path = folder_->filePath("secret");
    QFile file(path);
    if (!file.exists() && file.open(QFile::WriteOnly) &&
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner))
      file.write(QByteArray(64, '7'));
    return path;
  }

  Ranks start(const QStringList& jobs, int size, const QString& layout,
              const QStringList& more = {}) {
    Ranks ranks;
    for (int rank = 0; rank < size; ++rank) {
      ranks.push_back(std::make_unique<QProcess>());
      ranks.back()->start(
          QString(HEDDLE_BINARY_DIR) + "/transport_rank",
          jobs +
              QStringList{"--store", folder_->filePath("store"), "--secret", secret(), "--size",
                          QString::number(size), "--rank", QString::number(rank)} +
              hosts(layout, rank) + more);
    }
    return ranks;
  }

  static Ended finish(QProcess& rank) {
    rank.closeWriteChannel();
    rank.waitForFinished(-1);
    return {rank.exitStatus() == QProcess::NormalExit ? rank.exitCode() : -1,
            QString(rank.readAllStandardOutput()).trimmed(),
            QString(rank.readAllStandardError()).trimmed()};
  }

  std::vector<Ended> run(const QStringList& jobs, int size, const QString& layout,
                         const QStringList& more = {}) {
    const Ranks ranks = start(jobs, size, layout, more);
    std::vector<Ended> ended;
    for (const auto& rank : ranks) ended.push_back(finish(*rank));
    return ended;
  }

  // `most` ranks; with HEDDLE_ALL=1 always up to four.
  static void layouts(int most) {
    if (qEnvironmentVariableIsSet("HEDDLE_ALL")) most = 4;
    QTest::addColumn<QString>("layout");
    QTest::addColumn<int>("size");
    for (const QString layout : {"memory", "two hosts", "two hosts, encrypted", "no memory"})
      for (int size = 2; size <= most; ++size)
        QTest::newRow(qPrintable(QString("%1, %2 ranks").arg(layout).arg(size))) << layout << size;
  }

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  // Every collective of every type; then more of them under way than there is room for.
  void values_data() { layouts(4); }
  void values() {
    QFETCH(QString, layout);
    QFETCH(int, size);
    const QString transport = layout == "memory"                           ? "memory"
                              : layout.startsWith("two hosts") && size > 2 ? "memory + tcp"
                                                                           : "tcp";
    const auto ended = run({"values", "many"}, size, layout, {"--seed", "7"});
    for (int rank = 0; rank < size; ++rank) {
      QVERIFY2(ended[rank].exit_code == 0, qPrintable(ended[rank].err));
      // One of three ranks on two hosts is alone on its own.
      const bool alone = layout.startsWith("two hosts") && size == 3 && rank == 1;
      QCOMPARE(ended[rank].out, "right over " + (alone ? QString("tcp") : transport));
      QCOMPARE(ended[rank].err.contains("TCP carries their collectives"), layout == "no memory");
    }
  }

  void bits_do_not_depend_on_buckets_nor_on_the_transport() {
    QStringList hashes;
    for (const char* layout : {"memory", "two hosts", "two hosts, encrypted", "no memory"}) {
      init();
      const auto ended = run({"buckets"}, 3, layout);
      for (const Ended& rank : ended) QVERIFY2(rank.exit_code == 0, qPrintable(rank.err));
      const QStringList lines = ended[0].out.split('\n');
      QCOMPARE(lines.size(), 4);
      hashes += lines;
    }
    QVERIFY2(hashes.count(hashes[0]) == hashes.size(), qPrintable(hashes.join(' ')));
  }

  void ranks_that_disagree_data() {
    QTest::addColumn<QString>("layout");
    for (const char* layout : {"memory", "two hosts"}) QTest::newRow(layout) << layout;
  }
  void ranks_that_disagree() {
    QFETCH(QString, layout);
    const QString named =
        "the ranks of group test disagree at collective 1: rank 0 is in #1 all-gather layers.3 "
        "(1 range, 16 bytes of Float), rank 1 in #1 ";
    for (const Ended& rank : run({"kind", "bytes", "ranges", "label", "splits"}, 3, layout)) {
      QVERIFY2(rank.exit_code == 0, qPrintable(rank.err));
      QCOMPARE(rank.out.split('\n'),
               (QStringList{named + "reduce-scatter layers.3 (1 range, 48 bytes of Float)",
                            named + "all-gather layers.3 (1 range, 32 bytes of Float)",
                            named + "all-gather layers.3 (2 ranges, 32 bytes of Float)",
                            named + "all-gather layers.4 (1 range, 16 bytes of Float)",
                            "#1 all-to-all rows (3 ranges, 36 bytes of Float) of group test: rank "
                            "1 sends 24 bytes to rank 0, which expects 12"}));
    }
  }

  void a_rank_that_dies_data() { layouts(3); }
  void a_rank_that_dies() {
    QFETCH(QString, layout);
    QFETCH(int, size);
    const auto ended = run({"die"}, size, layout);
    for (int rank = 0; rank < size; ++rank) {
      if (rank == 1) continue;
      QVERIFY2(ended[rank].exit_code == 0, qPrintable(ended[rank].err));
      QCOMPARE(ended[rank].out,
               "rank 1 is gone, in the middle of #1 all-reduce norm (1 range, 400000 bytes of "
               "Float) of group test");
    }
  }

  void a_rank_that_lags_data() { layouts(3); }
  void a_rank_that_lags() {
    QFETCH(QString, layout);
    QFETCH(int, size);
    const Ranks ranks = start({"lag"}, size, layout, {"--timeout", "1500"});
    for (int rank = 0; rank < size; ++rank) {
      if (rank == 1) continue;
      const Ended ended = finish(*ranks[rank]);
      QVERIFY2(ended.exit_code == 0, qPrintable(ended.err));
      QVERIFY2(
          ended.out.contains("#1 all-reduce layers.7 (1 range, 400000 bytes of Float) of group "
                             "test has not ended after 1.5 s: rank 1 lags"),
          qPrintable(ended.out));
      QVERIFY2(ended.out.contains("rank 1: #0 barrier warm-up"), qPrintable(ended.out));
    }
    const Ended laggard = finish(*ranks[1]);
    QVERIFY2(laggard.exit_code == 0, qPrintable(laggard.err));
  }

  void a_mesh_of_groups() {
    for (const auto& [size, lines] :
         {std::pair{
              4, QStringList{"dp_shard 11 dp_replicate 101 dp_replicate+dp_shard 1111 memory",
                             "dp_shard 11 dp_replicate 1010 dp_replicate+dp_shard 1111 memory",
                             "dp_shard 1100 dp_replicate 101 dp_replicate+dp_shard 1111 memory",
                             "dp_shard 1100 dp_replicate 1010 dp_replicate+dp_shard 1111 memory"}},
          std::pair{2, QStringList{"dp_replicate 11 dp_replicate 11 memory",
                                   "dp_replicate 11 dp_replicate 11 memory"}}}) {
      init();
      QVERIFY(QDir(folder_->path()).mkdir("store"));  // the run directory
      const auto ended = run({"mesh"}, size, "memory");
      for (int rank = 0; rank < size; ++rank) {
        QVERIFY2(ended[rank].exit_code == 0, qPrintable(ended[rank].err));
        QCOMPARE(ended[rank].out, lines[rank]);
      }
    }
  }

  // Not even loopback is up: ranks of one host need no network.
  void training_without_a_network() {
    if (geteuid() != 0) QSKIP("needs root, to take the network away");
    QFile recipe(folder_->filePath("small.toml"));
    QVERIFY(recipe.open(QFile::WriteOnly));
    recipe.write(QString(R"(
[model]
dim = 32
n_layers = 1
n_heads = 2
n_kv_heads = 2
ffn_dim = 64
[data]
text = ["%1tinyshakespeare.txt"]
tokenizer = "%1tokenizer.json"
seq_len = 32
[training]
steps = 2
local_batch = 1
)")
                     .arg(QString(HEDDLE_SOURCE_DIR) + "/resources/data/")
                     .toUtf8());
    recipe.close();
    QProcess engine;
    engine.start("unshare", {"-n", QString(HEDDLE_BINARY_DIR) + "/heddle-engine", "train",
                             recipe.fileName(), "--ranks", "2"});
    const Ended ended = finish(engine);
    QVERIFY2(ended.exit_code == 0, qPrintable(ended.err));
    QVERIFY2(ended.out.contains("\"losses\":["), qPrintable(ended.out));
  }

  // Two network namespaces, told apart without being told, joined by a virtual cable.
  void two_networks() {
    if (geteuid() != 0) QSKIP("needs root, to make network namespaces");
    const QString id = QString::number(QCoreApplication::applicationPid());
    const QString script = QString(R"(
      set -e
      trap 'ip netns del ha%1 || true; ip netns del hb%1 || true' EXIT
      ip netns add ha%1
      ip netns add hb%1
      ip link add va%1 netns ha%1 type veth peer name vb%1 netns hb%1
      ip -n ha%1 addr add 10.77.0.1/24 dev va%1
      ip -n hb%1 addr add 10.77.0.2/24 dev vb%1
      ip -n ha%1 link set va%1 up
      ip -n hb%1 link set vb%1 up
      ip -n ha%1 link set lo up
      ip -n hb%1 link set lo up
      run() { ip netns exec h$1%1 "$HEDDLE_RANK" "$2" --store 10.77.0.1:4711 --secret "$SECRET" --size 3 --rank $3 --address 10.77.0.$4; }
      run b values 1 2 &
      run b values 2 2 &
      run a values 0 1
      wait
    )")
                               .arg(id);
    QProcess shell;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("HEDDLE_RANK", QString(HEDDLE_BINARY_DIR) + "/transport_rank");
    environment.insert("SECRET", secret());
    shell.setProcessEnvironment(environment);
    shell.start("sh", {"-c", script});
    const Ended ended = finish(shell);
    if (ended.exit_code == 127 || ended.err.contains("Operation not permitted"))
      QSKIP(qPrintable("no network namespaces here: " + ended.err));
    QVERIFY2(ended.exit_code == 0, qPrintable(ended.err));
    QStringList lines = ended.out.split('\n');
    lines.sort();
    QCOMPARE(lines,
             QStringList({"right over memory + tcp", "right over memory + tcp", "right over tcp"}));
  }
};

HEDDLE_TEST(TransportTest)
#include "transport_test.moc"
