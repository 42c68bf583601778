// At which steps the worst half of a sweep is stopped, and who that is.
#include "workbench/halving.h"

#include <QTest>
#include <cmath>

#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::workbench;

class HalvingTest : public QObject {
  Q_OBJECT

 private:
  static std::string stopped(const storage::Halving& halving, const std::vector<Contender>& runs) {
    std::string ids;
    for (const RungDecision& decision : decide(halving, runs))
      if (decision.stop) ids += fmt::format("{}@{} ", decision.run, decision.step);
    return ids;
  }

 private Q_SLOTS:
  void rungs_are_at_the_half_a_quarter_and_so_on() {
    const auto halving = must(plan_halving(must(read_halving("loss:1")), 8, 800));
    QVERIFY((halving == storage::Halving{"loss", {{100, 4}, {200, 2}, {400, 1}}}));
    QCOMPARE(words_of(halving), std::string("after step 100 the best 4 go on, after step 200 the "
                                            "best 2, after step 400 the best 1, by loss"));
    const auto five = must(plan_halving(must(read_halving("loss:2")), 5, 100));
    QVERIFY((five == storage::Halving{"loss", {{25, 3}, {50, 2}}}));
  }

  void steps_can_be_given() {
    const auto halving = must(plan_halving(must(read_halving("validation_loss:1@10,30")), 4, 40));
    QVERIFY((halving == storage::Halving{"validation_loss", {{10, 2}, {30, 1}}}));
  }

  void what_cannot_be_is_refused_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("says");
    QTest::newRow("no number") << "loss"
                               << "valid: METRIC:KEEP";
    QTest::newRow("none") << "loss:0"
                          << "valid: METRIC:KEEP";
    QTest::newRow("no metric") << "los:1"
                               << "los is no metric of a step";
    QTest::newRow("no direction") << "lr:1"
                                  << "valid: loss, validation_loss";
    QTest::newRow("all go on") << "loss:4"
                               << "4 of 4 runs would go on";
    QTest::newRow("falling steps") << "loss:1@20,10"
                                   << "whole numbers that rise";
    QTest::newRow("beyond the end") << "loss:1@40"
                                    << "step 40 is not before the runs' end";
  }
  void what_cannot_be_is_refused() {
    QFETCH(const QString, text);
    QFETCH(const QString, says);
    const auto wish = read_halving(text.toStdString());
    std::string said = wish ? "" : wish.error().message;
    if (wish) {
      const auto halving = plan_halving(*wish, 4, 40);
      said = halving ? "" : halving.error().message;
    }
    QVERIFY2(QString::fromStdString(said).contains(says), said.c_str());
  }

  void too_few_steps_are_said_to_be_too_few() {
    const auto halving = plan_halving(must(read_halving("loss:1")), 16, 5);
    QVERIFY(!halving);
    QVERIFY(halving.error().message.find("more steps") != std::string::npos);
  }

  /// Side by side it is what the textbook's halving does.
  void runs_that_are_there_together_are_halved_at_once() {
    const storage::Halving halving{"loss", {{10, 2}, {20, 1}}};
    std::vector<Contender> runs = {{1, true, {{10, 3.0}}},
                                   {2, true, {{10, 2.0}}},
                                   {3, true, {{10, 4.0}}},
                                   {4, true, {{10, 1.0}}}};
    QCOMPARE(stopped(halving, runs), std::string("1@10 3@10 "));
    runs[0].going = runs[2].going = false;
    runs[1].values[20] = 1.5;
    QCOMPARE(stopped(halving, runs), std::string());  // the other may do worse there
    runs[3].values[20] = 0.5;
    QCOMPARE(stopped(halving, runs), std::string("2@20 "));
  }

  /// One after another, a run is stopped when it cannot be among the best any more.
  void the_first_runs_of_a_queue_have_nobody_to_be_worse_than() {
    const storage::Halving halving{"loss", {{10, 2}}};
    std::vector<Contender> runs = {{1, false, {{10, 3.0}}}, {2, true, {{10, 4.0}}}, {3, false, {}}};
    QCOMPARE(stopped(halving, runs), std::string());
    runs = {{1, false, {{10, 3.0}}}, {2, false, {{10, 2.0}}}, {3, true, {{10, 4.0}}}};
    QCOMPARE(stopped(halving, runs), std::string("3@10 "));
  }

  void more_is_better_where_the_metric_says_so_and_nan_is_never() {
    const storage::Halving halving{"tokens_per_second", {{10, 1}}};
    const std::vector<Contender> runs = {{1, true, {{10, 100}}}, {2, true, {{10, 200}}}};
    QCOMPARE(stopped(halving, runs), std::string("1@10 "));
    QCOMPARE(stopped({"loss", {{10, 2}}}, {{1, true, {{10, std::nan("")}}}, {2, true, {{10, 9}}}}),
             std::string("1@10 "));
  }

  void of_equals_the_earlier_goes_on() {
    QCOMPARE(stopped({"loss", {{10, 1}}}, {{1, true, {{10, 2}}}, {2, true, {{10, 2}}}}),
             std::string("2@10 "));
  }

  void the_words_say_where_a_run_stands() {
    const auto decisions =
        decide({"loss", {{10, 1}}}, {{1, true, {{10, 2}}}, {2, true, {{10, 1}}}});
    QCOMPARE(decisions[0].words,
             std::string("halving at step 10: stopped: loss 2.0000, number 2 of 2 so far; the best "
                         "one goes on"));
    QVERIFY(decisions[1].words.starts_with("halving at step 10: goes on: loss 1.0000, number 1"));
  }
};

HEDDLE_TEST(HalvingTest)
#include "halving_test.moc"
