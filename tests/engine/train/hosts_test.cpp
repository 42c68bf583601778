// Two hosts, as two supervisors on this one: each has a rank, a run directory and, for checkpoints,
// a folder of its own.
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "engine_process.h"

namespace {

struct Host {
  QByteArray recipe;
  QByteArray graph = {};  // empty: captured
};

bool write(const QString& path, const QByteArray& content) {
  QFile file(path);
  return file.open(QFile::WriteOnly) && file.write(content) == content.size();
}

QByteArray read(const QString& path) {
  QFile file(path);
  return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class HostsTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  int port_ = 20000 + int(QCoreApplication::applicationPid() % 20000);

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

  // Returns what their end.json say.
  QList<QByteArray> train(const QString& run, const QList<Host>& hosts) {
    ++port_;
    for (qsizetype host = 0; host < hosts.size(); ++host) {
      const QString dir = run_dir(run, host), graph = dir + "/step.graph";
      const QJsonObject launch{{"run", run},
                               {"mode", "planned"},
                               {"world_size", hosts.size()},
                               {"first_rank", host},
                               {"local_ranks", 1},
                               {"rendezvous_host", "127.0.0.1"},
                               {"rendezvous_port", port_},
                               {"epoch", 0},
                               {"eval_to", ""},
                               {"graph_file", hosts[host].graph.isEmpty() ? "" : graph},
                               {"grace_seconds", 5.0}};
      const bool written = QDir().mkpath(dir) && write(dir + "/recipe.toml", hosts[host].recipe) &&
                           write(graph, hosts[host].graph) &&
                           write(dir + "/launch.json", QJsonDocument(launch).toJson());
      const auto started = run_engine({"supervise", "--run-dir", dir});
      if (!written || started.exit_code != 0) qWarning("%s", started.err.constData());
    }
    QList<QByteArray> ends;
    for (qsizetype host = 0; host < hosts.size(); ++host) {
      const QString end = run_dir(run, host) + "/end.json";
      if (!QTest::qWaitFor([&] { return QFile::exists(end); }, 60000)) qWarning("no end.json");
      ends << read(end);
    }
    return ends;
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
    const QByteArray log = read(run_dir(name + "-again", 0) + "/rank-0.0.hlog");
    QVERIFY(log.contains("step-10/manifest.json: cannot be read"));
    QVERIFY(log.contains("goes on after step 5 from"));
    QVERIFY(!log.contains("no checkpoint was written"));
    QCOMPARE(folders_in(checkpoints(name, lacks)), (QStringList{"step-10", "step-5"}));
    QCOMPARE(folders_in(checkpoints(name, 1 - lacks)),
             (QStringList{"step-10", "step-10.damaged", "step-5"}));

    QVERIFY(save_every_5(name + "-after", name, 12));
    QVERIFY(read(run_dir(name + "-after", 0) + "/rank-0.0.hlog")
                .contains("goes on after step 10 from"));
  }
};

QTEST_GUILESS_MAIN(HostsTest)
#include "hosts_test.moc"
