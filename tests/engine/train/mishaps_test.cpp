// Mishaps that end a run, or don't: steps that are not finite, a rank that somebody stops, one that
// never comes, a full disk; and what is left of it then.
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <QFileInfo>
#include <QJsonArray>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "engine/runs/launch.h"
#include "engine/runs/run_files.h"
#include "engine/telemetry/log_reader.h"
#include "tests/support/engine_process.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

using namespace heddle;
using heddle::test::read_bytes;

namespace {

QStringList set_key(const QString& key, const QString& value) {
  return {"--set", key + "=" + value};
}

std::vector<telemetry::Record> records_of(const QString& log) {
  const QByteArray bytes = read_bytes(log);
  telemetry::LogReader reader;
  reader.feed({bytes.constData(), static_cast<size_t>(bytes.size())});
  std::vector<telemetry::Record> records;
  while (const auto event = reader.next())
    if (const auto* frame = std::get_if<telemetry::Frame>(&*event))
      records.push_back(*frame->record());
  return records;
}

}  // namespace

class MishapsTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  QString recipe_;

  QStringList arguments(const QString& run_dir, const QStringList& sets) const {
    return QStringList{"train", recipe_, "--run-dir", run_dir} + sets;
  }

  static int steps_of(const QString& log) {
    int count = 0;
    for (const auto& record : records_of(log))
      count += std::holds_alternative<telemetry::Step>(record);
    return count;
  }

  /// A run of two ranks that is well under way.
  void start(QProcess& train, const QString& run_dir, const QStringList& sets) const {
    train.start(QString(HEDDLE_BINARY_DIR) + "/heddle-engine",
                arguments(run_dir, set_key("training.steps", "100000") + sets));
    QVERIFY(QTest::qWaitFor([&] { return steps_of(run_dir + "/rank-1.0.hlog") >= 3; }, 60000));
  }

  pid_t rank(const QString& run_dir, size_t rank) const {
    return runs::read_state(run_dir.toStdString()).value()->ranks.at(rank).process.pid;
  }

 private Q_SLOTS:
  void initTestCase() {
    recipe_ = folder_.filePath("recipe.toml");
    QFile file(recipe_);
    QVERIFY(file.open(QFile::WriteOnly));
    file.write(small_recipe(R"(
[training]
steps = 12
local_batch = 2
[hardware]
ranks = 2
device = "cpu")"));
  }

  // With this rate the first update makes weights of which nothing finite comes.
  void steps_that_stay_infinite_end_the_run() {
    const QString kept = folder_.filePath("kept");
    const QStringList sets = set_key("optimizer.lr", "1e18") +
                             set_key("training.max_skipped", "3") +
                             set_key("checkpoint.folder", '"' + kept + '"');
    const auto run = run_engine(arguments(folder_.filePath("skipped"), sets));
    QCOMPARE(run.exit_code, 1);
    for (const char* part : {"step 4: 3 steps in a row were not finite (training.max_skipped = 3)",
                             "it began on rank 0 in ", "are kept as ", "/kept/step-4"})
      QVERIFY2(run.err.contains(part), run.err.constData());
    QCOMPARE(folders_in(kept), QStringList{"step-4"});
    QVERIFY(QFile::exists(exported(kept + "/step-4")));
  }

  void any_number_of_them_may_be_allowed() {
    const QStringList sets = set_key("optimizer.lr", "1e18") + set_key("training.max_skipped", "0");
    const auto run = run_engine(arguments(folder_.filePath("allowed"), sets));
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QCOMPARE(run.results()["losses"].toArray().size(), 12);
  }

  void a_rank_that_is_stopped_is_told_and_may_go_on() {
    const QString run_dir = folder_.filePath("stopped");
    QProcess train;
    start(train, run_dir, {});
    const QString log = run_dir + "/supervisor.0.hlog";
    const pid_t pid = rank(run_dir, 1);
    QCOMPARE(kill(pid, SIGSTOP), 0);
    const QByteArray told = QByteArray("rank 1 (process ") + QByteArray::number(pid) +
                            ") has been stopped by SIGSTOP for ";
    QVERIFY(QTest::qWaitFor([&] { return read_bytes(log).contains(told); }, 30000));
    const qint64 size = QFileInfo(run_dir + "/rank-0.0.hlog").size();
    QCOMPARE(kill(pid, SIGCONT), 0);
    QVERIFY(
        QTest::qWaitFor([&] { return read_bytes(log).contains("rank 1 goes on after "); }, 30000));
    QVERIFY(QTest::qWaitFor([&] { return QFileInfo(run_dir + "/rank-0.0.hlog").size() > size; },
                            30000));
    train.terminate();
    QVERIFY(train.waitForFinished(60000));
    QCOMPARE(train.exitCode(), 130);
  }

  void a_rank_that_stays_stopped_ends_the_run_by_name() {
    const QString run_dir = folder_.filePath("hung");
    QProcess train;
    start(train, run_dir, set_key("timeouts.step", "2"));
    const pid_t pid = rank(run_dir, 1);
    QCOMPARE(kill(pid, SIGSTOP), 0);
    QVERIFY(train.waitForFinished(60000));
    QCOMPARE(train.exitCode(), 1);
    const QByteArray err = train.readAllStandardError();
    const QByteArray named =
        "has not ended after 2 s: rank 1 lags (process " + QByteArray::number(pid) + " is stopped)";
    QVERIFY2(err.contains(named), err.constData());
    const auto end = runs::read_end(run_dir.toStdString());
    QVERIFY(end && *end);
    QCOMPARE((*end)->state, std::string("failed"));
    QVERIFY2((*end)->cause.find(named.toStdString()) != std::string::npos, (*end)->cause.c_str());
    // Rank 1 says nothing any more; what it was in last is known from the memory that it shared.
    const QByteArray journal = read_bytes(run_dir + "/collectives.txt");
    for (const char* part : {"has not ended after 2 s", "\nrank 0\n", "\nrank 1\n", " ended "})
      QVERIFY2(journal.contains(part), journal.constData());
    QVERIFY2(journal.contains(" waiting ") || journal.contains(" moving "), journal.constData());
  }

  // The other host's supervisor is never started.
  void a_rank_that_never_comes_is_named() {
    const std::string run_dir = folder_.filePath("alone").toStdString();
    QVERIFY(QDir().mkpath(QString::fromStdString(run_dir)));
    QVERIFY(QFile::copy(recipe_, QString::fromStdString(run_dir) + "/recipe.toml"));
    QFile recipe(QString::fromStdString(run_dir) + "/recipe.toml");
    QVERIFY(recipe.open(QFile::Append));
    recipe.write("\n[timeouts]\nstart = 2\n");
    recipe.close();
    runs::Launch launch;
    launch.run = "test";
    launch.world_size = 2;
    launch.local_ranks = 1;
    QVERIFY(runs::write_launch(run_dir, launch));
    const auto run =
        run_engine({"supervise", "--run-dir", QString::fromStdString(run_dir), "--secret-stdin"},
                   QByteArray(64, 'a'));
    QVERIFY2(run.exit_code == 0, run.err.constData());
    std::string cause;
    QVERIFY(QTest::qWaitFor(
        [&] {
          const auto end = runs::read_end(run_dir);
          if (end && *end) cause = (*end)->cause;
          return !cause.empty();
        },
        60000));
    QVERIFY2(cause.find("rank 1 has not come within 2 s (timeouts.start)") != std::string::npos,
             cause.c_str());
  }

  void a_full_disk_takes_neither_the_training_nor_its_results() {
    if (geteuid() != 0) QSKIP("mounting a small tmpfs needs root");
    const QString disk = folder_.filePath("disk"), kept = folder_.filePath("elsewhere");
    QVERIFY(QDir().mkpath(disk));
    if (mount("tmpfs", disk.toUtf8().constData(), "tmpfs", 0, "size=256k") != 0)
      QSKIP("no right to mount a tmpfs here");
    const auto unmount = qScopeGuard([&] { umount2(disk.toUtf8().constData(), MNT_DETACH); });
    const QString run_dir = disk + "/run";
    const auto run = run_engine(arguments(
        run_dir, set_key("training.steps", "80") + set_key("telemetry.profile_every", "1") +
                     set_key("checkpoint.folder", '"' + kept + '"')));
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QCOMPARE(run.results()["losses"].toArray().size(), 80);
    QVERIFY(read_bytes(run_dir + "/results.json").contains("losses"));
    QCOMPARE(folders_in(kept), QStringList{"step-80"});
    const auto end = runs::read_end(run_dir.toStdString());
    QVERIFY(end && *end);
    QCOMPARE((*end)->state, std::string("done"));
    for (const char* log : {"/rank-0.0.hlog", "/rank-1.0.hlog"}) {
      QVERIFY(read_bytes(run_dir + log).contains("the disk is full"));
      const auto records = records_of(run_dir + log);
      QVERIFY(std::holds_alternative<telemetry::End>(records.back()));
      QCOMPARE(std::get<telemetry::End>(records.back()).state, std::string("done"));
    }
  }

  void a_disk_that_stays_full_takes_neither_results_nor_the_cause_data() {
    QTest::addColumn<int>("attempt");
    const int attempts = qEnvironmentVariableIsSet("HEDDLE_ALL") ? 20 : 3;
    for (int i = 1; i <= attempts; ++i) QTest::addRow("attempt %d", i) << i;
  }
  // The last checkpoint finds no room there, and neither does any line of an error.
  void a_disk_that_stays_full_takes_neither_results_nor_the_cause() {
    if (geteuid() != 0) QSKIP("mounting a small tmpfs needs root");
    QFETCH(int, attempt);
    const QString disk = folder_.filePath(QString("full-%1").arg(attempt));
    QVERIFY(QDir().mkpath(disk));
    if (mount("tmpfs", disk.toUtf8().constData(), "tmpfs", 0, "size=1m") != 0)
      QSKIP("no right to mount a tmpfs here");
    const auto unmount = qScopeGuard([&] { umount2(disk.toUtf8().constData(), MNT_DETACH); });
    const QString run_dir = disk + "/run";
    QProcess train;
    train.start(QString(HEDDLE_BINARY_DIR) + "/heddle-engine",
                arguments(run_dir, set_key("training.steps", "200")));
    // From now on a file takes all free room at once, until the run has ended.
    QVERIFY(QTest::qWaitFor([&] { return steps_of(run_dir + "/rank-0.0.hlog") >= 1; }, 60000));
    const int ballast = open((disk + "/ballast").toUtf8().constData(), O_WRONLY | O_CREAT, 0600);
    const auto close_ballast = qScopeGuard([&] { close(ballast); });
    const QByteArray bytes(4096, 'x');
    while (train.state() != QProcess::NotRunning) {
      while (write(ballast, bytes.constData(), size_t(bytes.size())) > 0) {
      }
      train.waitForFinished(1);
    }
    QCOMPARE(train.exitCode(), 1);
    const QByteArray full = "No space left on device", err = train.readAllStandardError();
    QVERIFY2(err.contains(full), err.constData());
    const auto results = QJsonDocument::fromJson(read_bytes(run_dir + "/results.json")).object();
    QCOMPARE(results["losses"].toArray().size(), 200);
    QCOMPARE(train.readAllStandardOutput(), read_bytes(run_dir + "/results.json"));
    const auto end = runs::read_end(run_dir.toStdString());
    QVERIFY(end && *end);
    QCOMPARE((*end)->state, std::string("failed"));
    QVERIFY2((*end)->cause.find("step 200: the last checkpoint could not be written: ") !=
                     std::string::npos &&
                 (*end)->cause.find(full.toStdString()) != std::string::npos,
             (*end)->cause.c_str());
    for (const char* log : {"/rank-0.0.hlog", "/rank-1.0.hlog", "/supervisor.0.hlog"}) {
      const auto records = records_of(run_dir + log);
      const auto* last = std::get_if<telemetry::End>(&records.back());
      QVERIFY(last);
      QCOMPARE(last->state, std::string("failed"));
      QVERIFY2(last->cause.find(full.toStdString()) != std::string::npos, last->cause.c_str());
    }
  }

  // Started from weights and saving, a rank holds what was predicted: no more, no less.
  void what_is_loaded_and_saved_is_predicted() {
    const QStringList large = set_key("model.dim", "512") + set_key("model.n_heads", "8") +
                              set_key("model.n_kv_heads", "8") + set_key("model.ffn_dim", "2048") +
                              set_key("model.n_layers", "6");
    const QString first = folder_.filePath("first");
    const auto made = run_engine(arguments(
        folder_.filePath("made"),
        large + set_key("training.steps", "1") + set_key("checkpoint.folder", '"' + first + '"')));
    QVERIFY2(made.exit_code == 0, made.err.constData());
    const auto close = [](const EngineResult& run) {
      const double peak = run.results()["peak_bytes"].toDouble();
      return std::abs(peak / run.results()["predicted_peak_bytes"].toDouble() - 1) < 0.03;
    };
    QVERIFY2(close(made), made.out.constData());
    const QString weights = QFileInfo(exported(first + "/step-1")).path();
    for (const QString& from : {first + "/step-1", weights})
      for (const bool saves : {false, true}) {
        const auto run = run_engine(arguments(
            folder_.filePath("again"),
            large + set_key("training.steps", "3") + set_key("model.checkpoint", '"' + from + '"') +
                (saves ? set_key("checkpoint.folder",
                                 '"' + folder_.filePath("of-" + QFileInfo(from).fileName()) + '"')
                       : set_key("checkpoint.enabled", "false"))));
        QVERIFY2(run.exit_code == 0, run.err.constData());
        QVERIFY2(close(run), run.out.constData());
      }
  }
};

HEDDLE_TEST(MishapsTest)
#include "mishaps_test.moc"
