// A run whose ranks are killed at any moment goes on by itself, as often as [restart] allows, and
// learns what the undisturbed run learns, to the last bit. HEDDLE_ALL=1: 50 kills.
#include <signal.h>

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

#include "engine/runs/launch.h"
#include "engine/runs/run_files.h"
#include "engine/telemetry/log_reader.h"
#include "tests/support/engine_process.h"
#include "tests/support/files.h"
#include "tests/support/free_port.h"
#include "tests/support/test_class.h"

using namespace heddle;
using heddle::test::read_bytes;

namespace {

const QByteArray kSurvivalSecret = QByteArray(64, '7') + '\n';
constexpr int kSurvivors = 2;

/// The step records of a log, in order; a damaged one ends the test.
QList<telemetry::Step> steps_of(const QString& log) {
  telemetry::LogReader reader;
  const QByteArray bytes = read_bytes(log);
  reader.feed({bytes.constData(), static_cast<size_t>(bytes.size())});
  reader.finish();
  QList<telemetry::Step> steps;
  uint64_t next_seq = 0;
  while (const auto event = reader.next()) {
    const auto* frame = std::get_if<telemetry::Frame>(&*event);
    if (!frame) {
      qWarning("%s: %s", qPrintable(log), std::get<telemetry::Gap>(*event).reason.c_str());
      return {};
    }
    if (frame->seq != next_seq++) return {};
    if (frame->type == telemetry::Type::step) steps << std::get<telemetry::Step>(*frame->record());
  }
  return steps;
}

}  // namespace

class SurvivalTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  const int kills_ = qEnvironmentVariableIsSet("HEDDLE_ALL") ? 50 : 3;
  const int steps_ = 200 + 100 * kills_;  // more than are trained before the last kill

  QByteArray recipe(int kills) const {
    return small_recipe("\n[training]\nglobal_batch = 4\nlocal_batch = 1\n") +
           QString(
               "steps = %1\n[checkpoint]\nevery = 3\n[hardware]\nranks = %2\n"
               "[wrapping]\nmode = \"layers\"\n"  // else a measured link may decide
               "[telemetry]\nprofile_every = 7\n[restart]\ntimes = %3\nbackoff = 0\n")
               .arg(steps_)
               .arg(kSurvivors)
               .arg(kills)
               .toUtf8();
  }

  QString dir(const QString& name) const { return folder_.filePath(name); }

  void supervise(const QString& name, int kills, const runs::Launch& launch) const {
    if (!QDir().mkpath(dir(name)) ||
        !test::write_bytes(dir(name) + "/recipe.toml", recipe(kills)) ||
        !runs::write_launch(dir(name).toStdString(), launch))
      qFatal("%s cannot be written", qPrintable(dir(name)));
    const EngineResult started =
        run_engine({"supervise", "--run-dir", dir(name), "--secret-stdin"}, kSurvivalSecret);
    if (started.exit_code != 0) qFatal("%s", started.err.constData());
  }

  static runs::Launch launch(int local_ranks, int first_rank = 0, uint16_t port = 0) {
    runs::Launch launch;
    launch.run = "survival";
    launch.world_size = kSurvivors;
    launch.local_ranks = local_ranks;
    launch.first_rank = first_rank;
    launch.rendezvous_port = port;
    return launch;
  }

  runs::End end_of(const QString& name) const {
    const std::string run_dir = dir(name).toStdString();
    const auto has_ended = [&] {
      return runs::read_status(run_dir)->condition == runs::Condition::ended;
    };
    // Fifty kills take as long as they take.
    const int patience = kills_ > 3 ? 3'600'000 : 300'000;
    if (!QTest::qWaitFor(has_ended, patience)) qFatal("%s has not ended", run_dir.c_str());
    return *runs::read_status(run_dir)->end;
  }

  std::vector<runs::State::Rank> ranks_of(const QString& name) const {
    return (*runs::read_state(dir(name).toStdString()))->ranks;
  }

  qint64 log_size(const QString& name) const {
    return QFileInfo(dir(name) + "/rank-0.0.hlog").size();
  }

  QByteArray weights(const QString& name) const {
    return read_bytes(exported(dir(name) + QString("/checkpoints/step-%1").arg(steps_)));
  }

  /// Each step once, with the losses of the undisturbed run.
  void verify_steps(const QString& name, int rank) {
    const QString log = QString("/rank-%1.0.hlog").arg(rank);
    const auto undisturbed = steps_of(dir("calm") + log), survived = steps_of(dir(name) + log);
    QCOMPARE(undisturbed.size(), steps_);
    QCOMPARE(survived.size(), steps_);
    for (int step = 0; step < steps_; ++step) {
      QCOMPARE(survived[step].step, step + 1);
      const double loss = survived[step].values.at("loss"),
                   expected = undisturbed[step].values.at("loss");
      QVERIFY2(loss == expected, qPrintable(QString("step %1: %2, not %3")
                                                .arg(step + 1)
                                                .arg(loss, 0, 'g', 17)
                                                .arg(expected, 0, 'g', 17)));
    }
  }

 private Q_SLOTS:
  void initTestCase() {
    qputenv("OMP_NUM_THREADS", "1");  // as many for a rank that has a host to itself
    supervise("calm", 0, launch(kSurvivors));
    QCOMPARE(end_of("calm").state, std::string("done"));
    QVERIFY(!weights("calm").isEmpty());
  }

  void killed_ranks_change_nothing() {
    supervise("killed", kills_, launch(kSurvivors));
    QRandomGenerator random(4711);
    ProcessId before;
    for (int kill = 0; kill < kills_; ++kill) {
      // A new attempt has new processes.
      QVERIFY(QTest::qWaitFor([&] { return !(ranks_of("killed")[0].process == before); }, 120000));
      before = ranks_of("killed")[0].process;
      if (kill % 2 == 0) {  // at any moment from its start on
        QTest::qSleep(random.bounded(1500));
      } else {  // in a step, between two, or in a save
        const qint64 size = log_size("killed");
        QVERIFY(QTest::qWaitFor([&] { return log_size("killed") > size + 4096; }, 120000));
        QTest::qSleep(random.bounded(100));
      }
      ::kill(ranks_of("killed")[random.bounded(kSurvivors)].process.pid, SIGKILL);
    }
    const runs::End end = end_of("killed");
    QVERIFY2(end.state == "done", end.cause.c_str());
    const runs::Launch launched = *runs::read_launch(dir("killed").toStdString());
    QCOMPARE(launched.restarts, kills_);
    QVERIFY2(launched.restart_cause.find("was killed by SIGKILL") != std::string::npos,
             launched.restart_cause.c_str());
    QVERIFY(weights("killed") == weights("calm"));
    qInfo("%d kills, %d restarts: the weights after step %d are the undisturbed run's", kills_,
          launched.restarts, steps_);
    for (int rank = 0; rank < kSurvivors; ++rank) verify_steps("killed", rank);
  }

  // Two supervisors here: each host has its own run directory and checkpoints.
  void two_hosts_start_their_ranks_again_together() {
    const uint16_t port = test::free_port();
    const QStringList hosts{"host-0", "host-1"};
    for (int host : {0, 1}) supervise(hosts[host], 2, launch(1, host, port));
    for (int victim : {1, 0}) {
      const QString log = dir(hosts[victim]) + QString("/rank-%1.0.hlog").arg(victim);
      const qsizetype steps = steps_of(log).size();
      QVERIFY(QTest::qWaitFor([&] { return steps_of(log).size() > steps + 5; }, 60000));
      const auto before = ranks_of(hosts[0])[0].process;
      ::kill(ranks_of(hosts[victim])[0].process.pid, SIGKILL);
      QVERIFY(QTest::qWaitFor([&] { return !(ranks_of(hosts[0])[0].process == before); }, 60000));
    }
    for (int host : {0, 1}) {
      const runs::End end = end_of(hosts[host]);
      QVERIFY2(end.state == "done", end.cause.c_str());
      QCOMPARE(runs::read_launch(dir(hosts[host]).toStdString())->restarts, 2);
      verify_steps(hosts[host], host);
    }
  }
};

HEDDLE_TEST(SurvivalTest)
#include "survival_test.moc"
