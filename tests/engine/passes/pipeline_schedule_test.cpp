// Pipeline schedules: every order finishes, does everything once, and its bubble is what
// the papers say.
#include <QTest>
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "engine/passes/schedule.h"
#include "tests/support/test_class.h"

using namespace heddle::passes;

namespace {

// Micro-batches that a rank holds activations of, at most: from forward to the weights' gradients.
int64_t held_at_most(const std::vector<Action>& actions) {
  int64_t now = 0, most = 0;
  for (const Action& action : actions) {
    if (action.part == Part::forward) most = std::max(most, ++now);
    if (action.part == Part::backward || action.part == Part::weights) --now;
  }
  return most;
}

}  // namespace

class ScheduleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_order_ends_and_does_all_once() {
    for (const auto schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b,
                                PipelineSchedule::interleaved, PipelineSchedule::zero_bubble})
      for (int64_t ranks = 1; ranks <= 8; ++ranks)
        for (const int64_t chunks : {1, 2, 3})
          for (int64_t micro_batches = 1; micro_batches <= 17; ++micro_batches) {
            const Pipeline pipeline{schedule, ranks, ranks * chunks, micro_batches};
            const bool several = schedule == PipelineSchedule::interleaved ||
                                 schedule == PipelineSchedule::zero_bubble;
            if (chunks > 1 && !several) continue;
            QVERIFY2(std::isfinite(bubble(pipeline, {})),
                     qPrintable(QString("schedule %1: %2 ranks, %3 stages each, %4 micro-batches "
                                        "wait for each other")
                                    .arg(static_cast<int>(schedule))
                                    .arg(ranks)
                                    .arg(chunks)
                                    .arg(micro_batches)));
            const int parts = schedule == PipelineSchedule::zero_bubble ? 3 : 2;
            std::set<std::tuple<Part, int32_t, int32_t>> done;
            for (int64_t rank = 0; rank < ranks; ++rank)
              for (const Action& action : actions_of(pipeline, rank)) {
                QCOMPARE(pipeline.rank_of(action.stage), rank);
                done.insert({action.part, action.stage, action.micro_batch});
              }
            QCOMPARE(static_cast<int64_t>(done.size()), parts * ranks * chunks * micro_batches);
          }
  }

  // The first rank of 1F1B holds most; no rank of zero-bubble holds more, however many there are.
  void zero_bubble_holds_as_many_micro_batches_as_1f1b() {
    for (int64_t ranks = 1; ranks <= 8; ++ranks)
      for (const int64_t chunks : {1, 2, 3})
        for (const int64_t micro_batches : {1, 2, 4, 5, 8, 16, 64}) {
          if (chunks > 1 && micro_batches % ranks != 0) continue;  // 1F1B's groups are not full
          const auto schedule =
              chunks == 1 ? PipelineSchedule::one_f_one_b : PipelineSchedule::interleaved;
          const int64_t stages = ranks * chunks;
          const int64_t of_1f1b =
              held_at_most(actions_of({schedule, ranks, stages, micro_batches}, 0));
          for (int64_t rank = 0; rank < ranks; ++rank)
            QVERIFY(held_at_most(actions_of(
                        {PipelineSchedule::zero_bubble, ranks, stages, micro_batches}, rank)) <=
                    of_1f1b);
        }
  }

  void a_limit_bounds_what_every_rank_holds() {
    for (int64_t ranks = 1; ranks <= 8; ++ranks)
      for (int64_t limit = 1; limit <= 2 * ranks + 1; ++limit)
        for (const int64_t micro_batches : {1, 2, 5, 8, 17, 40}) {
          const Pipeline pipeline{PipelineSchedule::zero_bubble, ranks, ranks, micro_batches,
                                  limit};
          QVERIFY(std::isfinite(bubble(pipeline, {})));
          for (int64_t rank = 0; rank < ranks; ++rank)
            QVERIFY(held_at_most(actions_of(pipeline, rank)) <= limit);
        }
  }

  // ZB-H1: (PP − 1) · (forward + inputs − weights); with room for 2 · PP − 1 micro-batches (ZB-H2)
  // less, where the parts are not equally long (arXiv 2401.10241, table 2). Within 1F1B's memory
  // one part for weights more.
  void zero_bubbles_are_those_of_the_paper() {
    for (const PartSeconds seconds :
         {PartSeconds{1, 1, 1}, PartSeconds{1, 0.5, 0.5}, PartSeconds{1, 1.2, 0.8}})
      for (int64_t ranks = 2; ranks <= 8; ++ranks)
        for (const int64_t rounds : {1, 2, 4, 16}) {
          const auto lost = [&](int64_t limit) {
            const Pipeline pipeline{PipelineSchedule::zero_bubble, ranks, ranks, rounds * ranks,
                                    limit};
            return bubble(pipeline, seconds) * static_cast<double>(pipeline.micro_batches) *
                   (seconds.forward + seconds.inputs + seconds.weights);
          };
          const double expected =
              static_cast<double>(ranks - 1) * (seconds.forward + seconds.inputs - seconds.weights);
          const auto is = [&](double found, double wanted) {
            const bool close = std::abs(found - wanted) < 0.01 * wanted;
            if (!close)
              qWarning("%lld ranks, %lld rounds: %f instead of %f", static_cast<long long>(ranks),
                       static_cast<long long>(rounds), found, wanted);
            return close;
          };
          QVERIFY(is(lost(ranks), expected));
          QVERIFY(is(lost(0), expected + seconds.weights));
          QVERIFY(lost(2 * ranks - 1) < expected + 1e-6);
        }
  }

  // A stage's sends backward can be waited for long before the end: few gradients are under way.
  void gradients_that_are_sent_do_not_pile_up() {
    for (const auto schedule : {PipelineSchedule::one_f_one_b, PipelineSchedule::zero_bubble})
      for (const int64_t ranks : {2, 4, 8}) {
        const Pipeline pipeline{schedule, ranks, ranks, 64};
        for (int64_t rank = 1; rank < ranks; ++rank) {
          const auto actions = actions_of(pipeline, rank);
          const auto received = received_before(pipeline, rank);
          QCOMPARE(received.size(), actions.size());
          std::set<int32_t> sent;
          size_t most = 0;
          for (size_t i = 0; i < actions.size(); ++i) {
            if (actions[i].part == Part::backward || actions[i].part == Part::inputs)
              sent.insert(actions[i].micro_batch);
            for (const int32_t micro_batch : received[i]) QVERIFY(sent.erase(micro_batch) == 1);
            most = std::max(most, sent.size());
          }
          QVERIFY(std::cmp_less_equal(most, 2 * ranks));
        }
      }
  }

  // (PP − 1) / (V · M) of ideal compute time, transfers free and stages equal; backward twice as
  // long as forward, and as long.
  void bubbles_are_those_of_the_papers() {
    for (const PartSeconds seconds : {PartSeconds{1, 1, 1}, PartSeconds{1, 0.5, 0.5}})
      for (int64_t ranks = 2; ranks <= 8; ++ranks)
        for (const int64_t chunks : {1, 2, 4})
          for (const int64_t rounds : {1, 2, 4}) {
            const int64_t micro_batches = rounds * ranks;
            const double expected =
                static_cast<double>(ranks - 1) / static_cast<double>(chunks * micro_batches);
            const auto schedule =
                chunks == 1 ? PipelineSchedule::one_f_one_b : PipelineSchedule::interleaved;
            const auto share = [&](PipelineSchedule which, int64_t stages) {
              return bubble({which, ranks, stages, micro_batches}, seconds);
            };
            QVERIFY(std::abs(share(schedule, ranks * chunks) - expected) < 0.01 * expected);
            if (chunks == 1)
              QVERIFY(std::abs(share(PipelineSchedule::gpipe, ranks) - expected) < 0.01 * expected);
          }
  }
};

HEDDLE_TEST(ScheduleTest)
#include "pipeline_schedule_test.moc"
