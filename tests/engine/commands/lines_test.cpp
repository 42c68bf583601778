// The output of `train` while it trains, for people and for programs; `log` afterwards.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/engine_process.h"
#include "tests/support/test_class.h"

namespace {

QByteArrayList lines_of(const QByteArray& text) { return text.trimmed().split('\n'); }

QByteArrayList with(const char* text, const QByteArrayList& lines) {
  QByteArrayList found;
  for (const QByteArray& line : lines)
    if (line.contains(text)) found << line;
  return found;
}

}  // namespace

class LinesTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  QString recipe_, run_dir_, checkpoints_;

  EngineResult train(const QStringList& more = {}) {
    return run_engine(QStringList{"train", recipe_, "--ranks", "2"} + more);
  }

 private Q_SLOTS:
  void initTestCase() {
    recipe_ = folder_.filePath("small.toml");
    run_dir_ = folder_.filePath("run");
    checkpoints_ = folder_.filePath("checkpoints");
    QFile file(recipe_);
    QVERIFY(file.open(QFile::WriteOnly));
    file.write(small_recipe(R"(
[training]
steps = 60
local_batch = 1
[validation]
every = 17
batches = 1
)") + "text = [\"" HEDDLE_SOURCE_DIR "/resources/data/tinyshakespeare.txt\"]\n");
  }

  void training_is_told_on_stderr_and_its_results_on_stdout() {
    const auto run =
        train({"--run-dir", run_dir_, "--set", "checkpoint.folder=\"" + checkpoints_ + "\"",
               "--set", "checkpoint.every=30"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QCOMPARE(run.out.count('\n'), 1);
    QCOMPARE(run.results()["losses"].toArray().size(), 60);

    for (const QString& says :
         {QString("logs and results: " + run_dir_), QString("2 ranks, planned, on "),
          QString("; predicted memory "), QString(" collectives a step in "), QString("plan: "),
          QString("expected: step "), QString("step 30: checkpoint " + checkpoints_ + "/step-30, "),
          QString("done: loss ")})
      QVERIFY2(run.err.contains(says.toUtf8()), (says + "\n" + run.err).toUtf8().constData());

    const QByteArrayList of_steps = with("/60  loss ", lines_of(run.err));
    QVERIFY2(of_steps.size() >= 20 && of_steps.size() <= 40, run.err.constData());
    QVERIFY(of_steps.first().startsWith("step  1/60  loss "));
    QVERIFY(of_steps.last().startsWith("step 60/60  loss "));
    for (const QByteArray& line : of_steps)
      QVERIFY2(
          line.contains("  gradient ") && line.contains(" tok/s a rank  ") && line.contains(" MiB"),
          line.constData());
    QVERIFY(of_steps[1].contains("  ETA "));
    const QByteArrayList validated = with("validation loss", of_steps);
    QCOMPARE(validated.size(), 3);  // 17, 34, 51
    QVERIFY2(validated[1].startsWith("step 34/60"), validated[1].constData());
  }

  void going_on_is_told() {
    const auto run = train(
        {"--set", "checkpoint.folder=\"" + checkpoints_ + "\"", "--set", "training.steps=62"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QVERIFY2(run.err.contains("goes on after step 60 from " + checkpoints_.toUtf8() + "/step-60"),
             run.err.constData());
    QVERIFY2(run.err.contains("step 61/62  loss "), run.err.constData());
  }

  void a_run_that_leaves_nothing_says_so() {
    const auto run = train({"--set", "training.steps=1", "--set", "validation.every=0"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QVERIFY2(run.err.startsWith("warning: nothing of this run is kept: "), run.err.constData());
  }

  void quiet_says_nothing_but_errors() {
    const auto run = train({"--quiet", "--set", "training.steps=2"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QCOMPARE(run.err, QByteArray());
    QCOMPARE(run.out.count('\n'), 1);
    const auto failed =
        train({"--quiet", "--set", "training.max_norm=0", "--set", "optimizer.lr=1e38"});
    QCOMPARE(failed.exit_code, 1);
    QVERIFY2(failed.err.contains("training.max_norm = 0"), failed.err.constData());
  }

  void programs_get_every_event_as_json_and_the_results_last() {
    const auto run = train({"--json", "--run-dir", folder_.filePath("json")});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    QCOMPARE(run.err, QByteArray());
    QCOMPARE(run.results()["losses"].toArray().size(), 60);
    QMap<QString, int> events;
    QByteArrayList lines = lines_of(run.out);
    lines.removeLast();
    for (const QByteArray& line : lines) {
      const QJsonObject event = QJsonDocument::fromJson(line).object();
      QVERIFY2(event.contains("event") && event.contains("rank") && event.contains("time"),
               line.constData());
      ++events[event["event"].toString()];
    }
    QCOMPARE(events["start"], 1);
    QCOMPARE(events["step"], 60);
    QCOMPARE(events["end"], 1);
    QVERIFY(events["log"] >= 2);
    QCOMPARE(train({"--json", "--quiet"}).exit_code, 2);
  }

  void a_log_is_printed_in_order_of_time() {
    const auto all = run_engine({"log", run_dir_});
    QVERIFY2(all.exit_code == 0, all.err.constData());
    const QByteArrayList lines = lines_of(all.out);
    QByteArray before;
    for (const QByteArray& line : lines) {
      QVERIFY2(line.left(23) >= before, line.constData());
      before = line.left(23);  // 2026-11-24 14:03:22.123
    }
    QCOMPARE(with("/60  loss ", with("  rank 0      step ", lines)).size(), 60);
    QCOMPARE(with("/60  loss ", with("  rank 1      step ", lines)).size(), 60);
    QCOMPARE(with("  rank 1      done: ", lines).size(), 1);
    QVERIFY(!with("  supervisor  rank 1 started as process ", lines).isEmpty());
    QVERIFY(!with("  rank 1      rank 1 of 2, planned, on ", lines).isEmpty());

    const auto one = run_engine({"log", run_dir_, "--rank", "1"});
    QVERIFY2(one.exit_code == 0, one.err.constData());
    QCOMPARE(lines_of(one.out), with("  rank 1      ", lines));
    // A run that has ended is not waited for.
    QCOMPARE(run_engine({"log", run_dir_, "--follow"}).out, all.out);
  }

  void what_is_no_log_is_refused() {
    const auto refused = [&](const QStringList& arguments, const QByteArray& says) {
      const auto run = run_engine(QStringList{"log"} + arguments);
      return run.exit_code == 2 && run.out.isEmpty() && run.err.contains(says) &&
             run.err.count('\n') == 1;
    };
    QVERIFY(refused({folder_.filePath("nowhere")}, "nowhere: No such file or directory"));
    QVERIFY(refused({recipe_}, "small.toml: Not a directory"));
    QVERIFY(refused({folder_.path()}, ": there is no log in it; valid: the directory of a run"));
    QVERIFY(refused({run_dir_, "--rank", "7"}, "--rank: there is no log of rank 7 in "));
    QVERIFY(refused({run_dir_, "--rank", "7"}, "; valid: 0, 1"));
  }

  void a_run_directory_that_cannot_be_made_is_refused() {
    const auto run = train({"--run-dir", recipe_ + "/run"});
    QCOMPARE(run.exit_code, 2);
    QVERIFY2(run.err.startsWith("--run-dir: ") && run.err.contains("; valid: "),
             run.err.constData());
    const auto unwritable = train({"--run-dir", "/proc/self/task"});
    QCOMPARE(unwritable.exit_code, 2);
    QVERIFY2(unwritable.err.contains("/proc/self/task/") &&
                 unwritable.err.contains("; valid: a run directory (--run-dir) "),
             unwritable.err.constData());
  }
};

HEDDLE_TEST(LinesTest)
#include "lines_test.moc"
