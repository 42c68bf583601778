// Pipeline schedules: every order comes to its end, does everything once, and its bubble is what
// the papers say.
#include <QTest>
#include <cmath>
#include <set>
#include <tuple>

#include "engine/passes/schedule.h"

using namespace heddle::passes;

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
            if (chunks > 1) continue;
            QVERIFY(std::abs(share(PipelineSchedule::gpipe, ranks) - expected) < 0.01 * expected);
            QVERIFY2(share(PipelineSchedule::zero_bubble, ranks) < expected,
                     qPrintable(QString("%1 ranks, %2 micro-batches: %3, 1f1b %4")
                                    .arg(ranks)
                                    .arg(micro_batches)
                                    .arg(share(PipelineSchedule::zero_bubble, ranks))
                                    .arg(expected)));
          }
  }
};

QTEST_GUILESS_MAIN(ScheduleTest)
#include "pipeline_schedule_test.moc"
