// Cuts steps into what they were spent on, and puts two of them side by side: by hand-made spans.
#include "workbench/step_alignment.h"

#include <QtTest>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/support/test_class.h"
#include "workbench/alignment_json.h"

using namespace heddle;
using namespace heddle::workbench;
using telemetry::Span;

namespace {

/// A letter a microsecond: c compute, e exposed, b bubble, i idle.
std::string text_of(const std::vector<Span>& spans, int64_t step_us) {
  std::string text;
  for (const Stretch& each : stretches_of(spans, step_us))
    text += std::string(static_cast<size_t>(each.end - each.begin),
                        "cebi"[static_cast<size_t>(each.part)]);
  return text;
}

/// Two layers, each gathered, computed forward and backward; an update. Layer 1's gather is hidden
/// behind layer 0, or follows it.
Side side(bool hidden) {
  Side side;
  side.name = hidden ? "the prediction" : "the measurement";
  side.plan_hash = "one";
  plan::BucketFigures first, second;
  first.name = "layers.0", first.modules = {"layers.0"};
  second.name = "layers.1", second.modules = {"layers.1"};
  side.buckets = {first, second};
  const int64_t late = hidden ? 0 : 30;
  side.spans = {
      {"all_gather", "layers.0", 0, 10, 1, 0, 0},
      {"mm", "layers.0.wq", 10, 40, 0, 0, 2},
      {"all_gather", "layers.1", hidden ? 15 : 50, 30, 1, 0, 1},
      {"mm", "layers.1.wq", 50 + late, 40, 0, 0, 4},
      {"all_reduce", "", 92 + late, 5, 1, 2, 6},
      {"adamw", "layers.0.wq", 97 + late, 3, 0, 2, 8},
  };
  side.step_us = 100 + late + (hidden ? 0 : 7);
  return side;
}

const Row* row_of(const Alignment& alignment, Grouping grouping, const std::string& name) {
  for (const Row& row : alignment.by(grouping))
    if (row.name == name) return &row;
  return nullptr;
}

int64_t differences(const std::vector<Row>& rows) {
  int64_t sum = 0;
  for (const Row& row : rows) sum += row.difference();
  return sum;
}

}  // namespace

class StepAlignmentTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Compute counts before a transfer, a transfer before a bubble, that before a wait.
  void every_microsecond_is_of_one_part() {
    const std::vector<Span> spans = {{"mm", "", 2, 4, telemetry::kCompute},
                                     {"all_gather", "", 4, 5, telemetry::kTransfer},
                                     {"receive", "", 8, 4, telemetry::kBubble},
                                     {"all_reduce", "", 11, 4, telemetry::kWait},
                                     {"adamw", "", 18, 50, telemetry::kCompute}};
    QCOMPARE(text_of(spans, 20), std::string("iicccceeebbbeeeiiicc"));
    const auto stretches = stretches_of(spans, 20);
    QCOMPARE(stretches[4], (Stretch{12, 15, Part::exposed, 3}));  // what is waited for
    QCOMPARE(stretches[5], (Stretch{15, 18, Part::idle, -1}));
    QCOMPARE(text_of({}, 3), std::string("iii"));
    QCOMPARE(text_of(spans, 0), std::string());
  }

  // Compute waits for the transfer that began first.
  void the_first_transfer_is_waited_for() {
    const std::vector<Span> spans = {{"all_gather", "a", 0, 6, 1}, {"all_gather", "b", 2, 8, 1}};
    QCOMPARE(stretches_of(spans, 10),
             (std::vector<Stretch>{{0, 6, Part::exposed, 0}, {6, 10, Part::exposed, 1}}));
  }

  void differences_add_up_to_that_of_the_steps() {
    const Side left = side(true), right = side(false);
    const Alignment alignment = align(left, right);
    QCOMPARE(alignment.left.total(), left.step_us);
    QCOMPARE(alignment.right.total(), right.step_us);
    for (const Grouping grouping : kGroupings)
      QCOMPARE(differences(alignment.by(grouping)), right.step_us - left.step_us);
    QCOMPARE(alignment.left, (Spent{{83, 15, 0, 2}}));
    QCOMPARE(alignment.right, (Spent{{83, 45, 0, 9}}));
  }

  void rows_are_of_buckets_phases_modules_nodes() {
    const Alignment alignment = align(side(true), side(false));
    const Row* bucket = row_of(alignment, Grouping::bucket, "layers.1");
    QVERIFY(bucket);
    QCOMPARE(bucket->left, (Spent{{40, 0, 0, 0}}));
    QCOMPARE(bucket->right, (Spent{{40, 30, 0, 0}}));
    QCOMPARE(row_of(alignment, Grouping::bucket, kOtherTransfers)->left, (Spent{{0, 5, 0, 0}}));
    QCOMPARE(row_of(alignment, Grouping::bucket, "layers.0")->left, (Spent{{43, 10, 0, 0}}));
    QCOMPARE(row_of(alignment, Grouping::phase, "optimizer")->right, (Spent{{3, 5, 0, 0}}));
    QCOMPARE(row_of(alignment, Grouping::module, "layers.0.wq")->right, (Spent{{43, 0, 0, 0}}));
    // A fully hidden transfer is a row all the same.
    const Row& first = alignment.by(Grouping::node).front();
    QCOMPARE(first.name, std::string("all_gather layers.1 (forward)"));
    QCOMPARE(first.left_spans, int64_t{1});
    QCOMPARE(first.left.total(), int64_t{0});
    QCOMPARE(first.difference(), int64_t{30});
    // Two gaps: in front of the all-reduce, and after all.
    QCOMPARE(row_of(alignment, Grouping::node, kBetween)->right, (Spent{{0, 0, 0, 2}}));
    QCOMPARE(row_of(alignment, Grouping::node, kOutside)->right, (Spent{{0, 0, 0, 7}}));
  }

  // Nodes of one plan are joined by their numbers, even where one is too short to be seen; nodes of
  // different plans by their order.
  void nodes_are_joined() {
    Side left, right;
    left.step_us = right.step_us = 30;
    left.plan_hash = right.plan_hash = "one";
    left.spans = {{"mm", "a", 0, 10, 0, 0, 1}, {"mm", "a", 10, 10, 0, 0, 3}};
    right.spans = {
        {"mm", "a", 0, 10, 0, 0, 1}, {"mm", "a", 10, 1, 0, 0, 2}, {"mm", "a", 11, 19, 0, 0, 3}};
    Alignment alignment = align(left, right);
    QCOMPARE(row_of(alignment, Grouping::node, "mm a (forward) #3")->difference(), int64_t{9});
    QCOMPARE(row_of(alignment, Grouping::node, "mm a (forward) #2")->left_spans, int64_t{0});
    right.plan_hash = "another";
    alignment = align(left, right);
    QCOMPARE(row_of(alignment, Grouping::node, "mm a (forward) #2")->difference(), int64_t{-9});
    QCOMPARE(row_of(alignment, Grouping::node, "mm a (forward) #3")->left_spans, int64_t{0});
  }

  // Other stages of the same plan have other nodes under the same numbers.
  void stages_are_not_joined_by_numbers() {
    Side left, right;
    left.step_us = right.step_us = 10;
    left.plan_hash = right.plan_hash = "one";
    right.stage = 1;
    left.spans = {{"mm", "a", 0, 10, 0, 0, 1}};
    right.spans = {{"mm", "a", 0, 10, 0, 0, 7}};
    const Alignment alignment = align(left, right);
    QCOMPARE(row_of(alignment, Grouping::node, "mm a (forward)")->right_spans, int64_t{1});
  }

  // A pipeline that was predicted by parts has one span a layer.
  void a_prediction_by_parts_is_aligned_by_layers() {
    Side left, right;
    left.step_us = right.step_us = 20;
    left.spans = {{"compute", "layers.1", 0, 20, 0, 0, -1}};
    right.spans = {{"mm", "layers.1.wq", 0, 5, 0, 0, 1}, {"mm", "layers.1.wo", 5, 10, 0, 0, 2}};
    const Alignment alignment = align(left, right);
    QCOMPARE(row_of(alignment, Grouping::module, "layers.1")->difference(), int64_t{-5});
    QCOMPARE(row_of(alignment, Grouping::node, "compute layers.1 (forward)")->right_spans,
             int64_t{2});
  }

  void the_largest_surprise_is_named() {
    const Side left = side(true), right = side(false);
    const auto named = surprises(align(left, right), left, right);
    QVERIFY(!named.empty());
    QCOMPARE(named.front().words,
             std::string("all_gather layers.1 (forward): 30.0 µs exposed in the measurement, "
                         "hidden in the prediction"));
    QCOMPARE(named.front().row, std::string("all_gather layers.1 (forward)"));
    QVERIFY(surprises(align(left, left), left, left).empty());
  }

  void what_is_left_out_is_put_together() {
    const Alignment alignment = align(side(true), side(false));
    const auto& rows = alignment.by(Grouping::node);
    const auto shown = with_others(rows, 2);
    QCOMPARE(shown.size(), size_t(3));
    QCOMPARE(differences(shown), differences(rows));
    QCOMPARE(with_others(rows, rows.size()).size(), rows.size());
  }

  void steps_of_any_spans_add_up() {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
      std::array<Side, 2> sides;
      for (Side& each : sides) {
        each.step_us = 400 + static_cast<int64_t>(random() % 200);
        for (int i = 0; i < 60; ++i)
          each.spans.push_back(
              {"op", "layers." + std::to_string(random() % 4),
               static_cast<int64_t>(random() % 600) - 50, static_cast<int64_t>(random() % 30),
               static_cast<uint8_t>(random() % 4), static_cast<uint8_t>(random() % 3), i});
      }
      const Alignment alignment = align(sides[0], sides[1]);
      QCOMPARE(alignment.left.total(), sides[0].step_us);
      for (const Grouping grouping : kGroupings)
        QCOMPARE(differences(alignment.by(grouping)), sides[1].step_us - sides[0].step_us);
    }
  }

  void memory_is_told_where_both_know_it() {
    Pair pair{side(true), side(false)};
    QVERIFY(!alignment_json(pair).contains("memory"));
    pair.left.memory = pair.right.memory = plan::MemoryBytes{};
    (*pair.right.memory)[plan::Category::activations] = 7;
    const auto json = alignment_json(pair);
    QCOMPARE(json["memory"]["activations"].dump(), std::string("[0,7]"));
    double sum = 0;
    for (const auto& row : json["by_bucket"]) sum += row["difference_seconds"].get<double>();
    QVERIFY(std::abs(sum - json["difference_seconds"].get<double>()) < 1e-9);
  }
};

HEDDLE_TEST(StepAlignmentTest)
#include "step_alignment_test.moc"
