// Pipeline schedules: every order comes to its end, does everything once, and its bubble is what
// the papers say.
#include <QTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "engine/passes/schedule.h"

using namespace heddle::passes;

namespace {

// The order of zero-bubble as its words say: in each turn all that any rank could do is looked at.
std::vector<std::vector<Action>> zero_bubble_by_its_words(const Pipeline& p) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::map<std::tuple<Part, int64_t, int64_t>, double> ends;
  const auto end = [&](Part part, int64_t stage, int64_t micro_batch) {
    const auto found = ends.find({part, stage, micro_batch});
    return found == ends.end() ? kNever : found->second;
  };
  std::vector<std::map<Part, int64_t>> next(static_cast<size_t>(p.stages));
  std::vector<double> free(static_cast<size_t>(p.ranks), 0.0);
  std::vector<std::vector<Action>> done(static_cast<size_t>(p.ranks));
  for (int64_t turn = 0; turn < 3 * p.stages * p.micro_batches; ++turn) {
    double first = kNever;
    Action chosen;
    for (int64_t rank = 0; rank < p.ranks; ++rank)
      for (const Part part : {Part::inputs, Part::forward, Part::weights})
        for (int64_t stage = rank; stage < p.stages; stage += p.ranks) {
          auto& of_stage = next[static_cast<size_t>(stage)];
          const int64_t m = of_stage[part];
          const int64_t ahead = p.ranks - stage + (p.stages > p.ranks ? p.ranks : 0);
          const bool waits = part == Part::forward && stage < p.ranks &&
                             of_stage[Part::forward] - of_stage[Part::inputs] >= ahead;
          if (m == p.micro_batches || waits) continue;
          double ready = 0;
          if (part == Part::forward && stage > 0) ready = end(Part::forward, stage - 1, m);
          if (part == Part::weights) ready = end(Part::inputs, stage, m);
          if (part == Part::inputs) {
            ready = end(Part::forward, stage, m);
            if (stage + 1 < p.stages) ready = std::max(ready, end(Part::inputs, stage + 1, m));
          }
          const double begin = std::max(ready, free[static_cast<size_t>(rank)]);
          if (begin >= first) continue;
          first = begin;
          chosen = {part, static_cast<int32_t>(stage), static_cast<int32_t>(m)};
        }
    const auto rank = static_cast<size_t>(p.rank_of(chosen.stage));
    ends[{chosen.part, chosen.stage, chosen.micro_batch}] = free[rank] = first + 1;
    ++next[static_cast<size_t>(chosen.stage)][chosen.part];
    done[rank].push_back(chosen);
  }
  return done;
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

  void zero_bubble_takes_the_most_urgent_of_all_ranks() {
    for (int64_t ranks = 1; ranks <= 6; ++ranks)
      for (const int64_t chunks : {1, 2, 3})
        for (const int64_t micro_batches : {1, 2, 5, 8, 13, 40}) {
          const Pipeline p{PipelineSchedule::zero_bubble, ranks, ranks * chunks, micro_batches};
          const auto expected = zero_bubble_by_its_words(p);
          for (int64_t rank = 0; rank < ranks; ++rank)
            QVERIFY(actions_of(p, rank) == expected[static_cast<size_t>(rank)]);
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
