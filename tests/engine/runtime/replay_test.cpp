// Two ranks on the CPU that replay recorded steps, against two that run each operator.
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <array>
#include <memory>

#include "tests/support/test_class.h"

class ReplayTest : public QObject {
  Q_OBJECT

 private:
  using Lines = std::array<QStringList, 2>;  // by rank

  static Lines run(const QString& how) {
    const QTemporaryDir folder;
    std::array<QProcess, 2> ranks;
    for (int rank = 0; rank < 2; ++rank)
      ranks[rank].start(QString(HEDDLE_BINARY_DIR) + "/program_rank",
                        {how, folder.path(), QString::number(rank)});
    Lines lines;
    for (int rank = 0; rank < 2; ++rank) {
      ranks[rank].waitForFinished(-1);
      lines[rank] = QString(ranks[rank].readAllStandardOutput()).trimmed().split('\n');
      if (ranks[rank].exitCode() != 0) qWarning() << ranks[rank].readAllStandardError();
    }
    return lines;
  }

 private Q_SLOTS:
  void replayed_steps_give_the_bits_of_run_ones() {
    const Lines run_by_operators = run("run"), replayed = run("replay");
    for (int rank = 0; rank < 2; ++rank) {
      QCOMPARE(run_by_operators[rank].size(), 12);
      QCOMPARE(replayed[rank], run_by_operators[rank]);
    }
    const QRegularExpression all_timed(
        "[1-9]\\d* operators ([1-9]\\d*) collectives timed, \\1 collectives run$");
    for (int step : {2, 5, 8, 11}) QVERIFY(all_timed.match(replayed[0][step]).hasMatch());
  }

  // The next step is in line before the numbers of a step are read, once steps are replayed.
  void steps_put_in_line_ahead_give_the_same_numbers() {
    const Lines run_by_operators = run("run"), ahead = run("ahead");
    for (int rank = 0; rank < 2; ++rank) {
      QCOMPARE(ahead[rank].size(), 13);
      for (int step = 0; step < 12; ++step) {
        QCOMPARE(ahead[rank][step].section(',', 0, 0),
                 run_by_operators[rank][step].section(',', 0, 0));
        QCOMPARE(ahead[rank][step].section(',', 1),
                 step < 3 || step == 11 ? " 0 ahead" : " 1 ahead");
      }
      QVERIFY(run_by_operators[rank].last().section(',', 1).startsWith(ahead[rank].last()));
    }
  }

  void where_recording_fails_steps_are_run_and_it_is_told_once() {
    const Lines run_by_operators = run("run"), refused = run("refuse");
    for (int rank = 0; rank < 2; ++rank) {
      QCOMPARE(refused[rank].mid(0, 12), run_by_operators[rank]);
      QCOMPARE(refused[rank].mid(12),
               QStringList("warning: steps are launched operator by operator, which costs time: "
                           "they cannot be recorded (an operator waits for the host)"));
    }
  }
};

HEDDLE_TEST(ReplayTest)
#include "replay_test.moc"
