// Hosts, as supervisors on this one: each has a rank or more, a run directory and, for checkpoints,
// a folder of its own.
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QtEndian>

#include "tests/support/engine_process.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

using heddle::test::read_bytes;

namespace {

const QByteArray kSecret = QByteArray(64, '5') + '\n';

struct Host {
  QByteArray recipe;
  QByteArray graph = {};  // empty: captured
  bool apart = false;     // with process ids of its own: as on another machine, reached over TCP
  int ranks = 1;
  int threads = 1;  // of a rank
};

bool write(const QString& path, const QByteArray& content) {
  QFile file(path);
  return file.open(QFile::WriteOnly) && file.write(content) == content.size();
}

}  // namespace

class HostsTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  // Below those that the system gives to connections of other programs.
  int port_ = 10000 + int(QCoreApplication::applicationPid() % 20000);

  static QByteArray recipe(const QByteArray& more = {}) {
    return small_recipe(R"(
[training]
steps = 10
global_batch = 4
local_batch = 1
[hardware]
ranks = 2
)") + more;
  }

  QString run_dir(const QString& run, qsizetype host) {
    return folder_.filePath(QString("%1-%2").arg(run).arg(host));
  }
  QString checkpoints(const QString& of, int host) {
    return folder_.filePath(QString("%1-checkpoints-%2").arg(of).arg(host));
  }

  // The shell is the first process of its namespace, and all of them end with it.
  void supervise_apart(const QString& dir, const QProcessEnvironment& environment) {
    const QString script = QString(
                               "'%1/heddle-engine' supervise --run-dir '%2' --secret-stdin; "
                               "until [ -e '%2/end.json' ]; do sleep 0.1; done")
                               .arg(HEDDLE_BINARY_DIR, dir);
    auto* shell = new QProcess(this);
    shell->setProcessEnvironment(environment);
    shell->start("unshare", {"--pid", "--fork", "--kill-child", "sh", "-c", script});
    shell->write(kSecret);
    shell->closeWriteChannel();
  }

  // Returns what their end.json say.
  QList<QByteArray> train(const QString& run, const QList<Host>& hosts) {
    ++port_;
    int ranks = 0, first_rank = 0;
    for (const Host& host : hosts) ranks += host.ranks;
    for (qsizetype host = 0; host < hosts.size(); ++host) {
      const QString dir = run_dir(run, host), graph = dir + "/step.graph";
      const QJsonObject launch{
          {"run", run},
          {"mode", "planned"},
          {"world_size", ranks},
          {"first_rank", std::exchange(first_rank, first_rank + hosts[host].ranks)},
          {"local_ranks", hosts[host].ranks},
          {"rendezvous_host", "127.0.0.1"},
          {"rendezvous_port", port_},
          {"epoch", 0},
          {"eval_to", ""},
          {"graph_file", hosts[host].graph.isEmpty() ? "" : graph},
          {"grace_seconds", 5.0}};
      const bool written = QDir().mkpath(dir) && write(dir + "/recipe.toml", hosts[host].recipe) &&
                           write(graph, hosts[host].graph) &&
                           write(dir + "/launch.json", QJsonDocument(launch).toJson());
      if (!written) qWarning("%s cannot be written", qPrintable(dir));
      QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
      environment.insert("OMP_NUM_THREADS", QString::number(hosts[host].threads));
      if (hosts[host].apart) {
        supervise_apart(dir, environment);
      } else {
        const auto started =
            run_engine({"supervise", "--run-dir", dir, "--secret-stdin"}, kSecret, environment);
        if (started.exit_code != 0) qWarning("%s", started.err.constData());
      }
    }
    QList<QByteArray> ends;
    for (qsizetype host = 0; host < hosts.size(); ++host) {
      const QString end = run_dir(run, host) + "/end.json";
      if (!QTest::qWaitFor([&] { return QFile::exists(end); }, 60000)) qWarning("no end.json");
      ends << read_bytes(end);
    }
    return ends;
  }

  QJsonObject results(const QString& run) {
    return QJsonDocument::fromJson(read_bytes(run_dir(run, 0) + "/results.json")).object();
  }

  // Each with its own checkpoints; whether both were done.
  bool save_every_5(const QString& run, const QString& to, int steps) {
    QList<Host> hosts;
    for (int host : {0, 1})
      hosts << Host{
          recipe("[checkpoint]\nevery = 5\nfolder = \"" + checkpoints(to, host).toUtf8() + "\"\n")
              .replace("steps = 10", "steps = " + QByteArray::number(steps))};
    const auto ends = train(run, hosts);
    for (const QByteArray& end : ends)
      if (!end.contains("\"done\"")) qWarning("%s", end.constData());
    return ends[0].contains("\"done\"") && ends[1].contains("\"done\"");
  }

 private Q_SLOTS:
  void ranks_that_plan_differently_are_told_where() {
    const QString path = folder_.filePath("small.toml");
    QVERIFY(write(path, recipe()));
    const QByteArray text = run_engine({"graph", path}).out;
    const QByteArray other = QByteArray(text).replace("weight_decay=0.1", "weight_decay=0.0");
    for (const QByteArray& said : train("differ", {{recipe(), text}, {recipe(), other}})) {
      QVERIFY2(said.contains("have planned different steps"), said.constData());
      QVERIFY2(said.contains("weight_decay=0.1"), said.constData());
      QVERIFY2(said.contains("weight_decay=0.0"), said.constData());
    }
  }

  void what_other_hosts_send_lies_in_the_arena_data() {
    QTest::addColumn<QByteArray>("more");
    QTest::newRow("sharded") << QByteArray();
    QTest::newRow("sharded in bf16") << QByteArray("[precision]\nparam = \"bf16\"\n");
    QTest::newRow("replicated") << QByteArray("[parallelism]\ndp_replicate = 2\n");
    QTest::newRow("tensor parallel") << QByteArray("[parallelism]\ntp = 2\n");
  }
  void what_other_hosts_send_lies_in_the_arena() {
    if (geteuid() != 0) QSKIP("needs root, for namespaces of process ids");
    QFETCH(QByteArray, more);
    const QByteArray both =
        recipe(more).replace("dim = 54", "dim = 48").replace("heads = 3", "heads = 2");
    const QString name = QString(QTest::currentDataTag()).replace(' ', '-');
    train(name + "-together", {{both}, {both}});
    train(name + "-apart", {{both}, {both, {}, true}});
    const QJsonObject together = results(name + "-together"), apart = results(name + "-apart");
    QCOMPARE(together["losses"].toArray().size(), 10);
    QCOMPARE(apart["losses"], together["losses"]);
    QCOMPARE(beyond_the_plan(apart), "");
    QVERIFY(read_bytes(run_dir(name + "-apart", 0) + "/rank-0.0.hlog")
                .contains("transportctcp"));  // CBOR
  }

  // Ranks 0 and 1 of one host are a tensor-parallel group, ranks 2 and 3 of two hosts another.
  void a_group_across_hosts_counts_where_rank_0_has_none() {
    if (geteuid() != 0) QSKIP("needs root, for namespaces of process ids");
    const QByteArray both = recipe("[parallelism]\ntp = 2\n")
                                .replace("dim = 54", "dim = 48")
                                .replace("heads = 3", "heads = 2")
                                .replace("ranks = 2", "ranks = 6")
                                .replace("global_batch = 4", "global_batch = 3");
    train("three-together", {{.recipe = both, .ranks = 6}});
    train("three-apart",
          {{.recipe = both, .ranks = 3}, {.recipe = both, .apart = true, .ranks = 3}});
    const QJsonObject together = results("three-together"), apart = results("three-apart");
    QCOMPARE(together["losses"].toArray().size(), 10);
    QCOMPARE(apart["losses"], together["losses"]);
    QCOMPARE(beyond_the_plan(apart), "");
  }

  // Attention's scratch is a block a thread, and with so few columns most of what lives at once.
  void ranks_with_other_threads_plan_alike() {
    const QString ids = folder_.filePath("zeros.safetensors");
    const QByteArray header =
        R"({"input_ids":{"dtype":"I64","shape":[2,2,2049],"data_offsets":[0,65568]}})";
    const quint64 length = qToLittleEndian<quint64>(header.size());
    QVERIFY(write(ids, QByteArray(reinterpret_cast<const char*>(&length), sizeof(length)) + header +
                           QByteArray(65568, '\0')));
    const QByteArray both =
        "[model]\nvocab_size = 16\ndim = 8\nn_layers = 1\nn_heads = 2\nffn_dim = 8\n"
        "[data]\nseq_len = 2048\ntoken_ids = \"" +
        ids.toUtf8() +
        "\"\n"
        "[training]\nsteps = 2\nlocal_batch = 1\n[hardware]\nranks = 2\n";
    const auto ends =
        train("threads", {{.recipe = both, .threads = 1}, {.recipe = both, .threads = 2}});
    for (const QByteArray& end : ends) QVERIFY2(end.contains("\"done\""), end.constData());
    QCOMPARE(beyond_the_plan(results("threads")), "");
  }

  // As a crash leaves it between the two hosts' renames.
  void a_step_that_one_host_lacks_is_saved_again_data() {
    QTest::addColumn<int>("lacks");
    QTest::newRow("the first") << 0;
    QTest::newRow("the second") << 1;
  }
  void a_step_that_one_host_lacks_is_saved_again() {
    QFETCH(int, lacks);
    const QString name = QString("lacks-%1").arg(lacks);
    QVERIFY(save_every_5(name + "-before", name, 10));
    QVERIFY(QDir(checkpoints(name, lacks) + "/step-10").removeRecursively());

    QVERIFY(save_every_5(name + "-again", name, 10));
    const QByteArray log = read_bytes(run_dir(name + "-again", 0) + "/rank-0.0.hlog");
    QVERIFY(log.contains("step-10/manifest.json: cannot be read"));
    QVERIFY(log.contains("goes on after step 5 from"));
    QVERIFY(!log.contains("no checkpoint was written"));
    QCOMPARE(folders_in(checkpoints(name, lacks)), (QStringList{"step-10", "step-5"}));
    QCOMPARE(folders_in(checkpoints(name, 1 - lacks)),
             (QStringList{"step-10", "step-10.damaged", "step-5"}));

    QVERIFY(save_every_5(name + "-after", name, 12));
    QVERIFY(read_bytes(run_dir(name + "-after", 0) + "/rank-0.0.hlog")
                .contains("goes on after step 10 from"));
  }
};

HEDDLE_TEST(HostsTest)
#include "hosts_test.moc"
