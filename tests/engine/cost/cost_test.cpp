// The rule and the clock, with times set by hand, on the toy and on graphs written here.
#include <QTest>
#include <algorithm>
#include <cmath>
#include <utility>

#include "../graph/toy.h"
#include "engine/cost/auto_buckets.h"
#include "engine/cost/choose_plan.h"
#include "engine/graph/text.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

// Modules named a, b, c …: 100 bytes each way, one second of compute forward, two backward.
std::vector<cost::ModuleCost> modules(size_t count) {
  std::vector<cost::ModuleCost> all;
  for (size_t i = 0; i < count; ++i)
    all.push_back({std::string(1, static_cast<char>('a' + i)), 100, 100, 1.0, 2.0, false});
  return all;
}

cost::Transfers bytes_per_second(double gather, double scatter) {
  return {[=](int64_t bytes) { return static_cast<double>(bytes) / gather; },
          [=](int64_t bytes) { return static_cast<double>(bytes) / scatter; }};
}

QString text_of(const passes::BucketPlan& plan) {
  QStringList buckets;
  for (const passes::Bucket& bucket : plan) {
    QString text;
    for (const std::string& module : bucket.modules) text += QString::fromStdString(module);
    buckets << text;
  }
  return buckets.join(" ");
}

QString greedy(const std::vector<cost::ModuleCost>& modules, const cost::Transfers& transfers,
               const cost::GreedyOptions& options = {}) {
  return text_of(cost::greedy_buckets(modules, transfers, options));
}

constexpr double kNothing = 1e12;  // bytes per second

// Forward nodes on a shard %0 and a tensor %1.
graph::Graph parsed(const std::string& nodes) {
  const auto graph = graph::parse_text(
      "heddle graph 1\ngroup dp_shard = 2\nmicro_batches = 1\nstate %0: f32[2, 2] w\n"
      "state %1: f32[4, 2] x\nforward\n" +
          nodes + "end\n",
      "test");
  if (!graph) qFatal("%s", graph.error().message.c_str());
  return *graph;
}

cost::Rates rates(double bytes_per_second) {
  cost::Rates rates;
  rates.process_bytes = 200'000'000;
  cost::Link& link = rates.links["dp_shard"];
  const cost::Curve curve = {{16, 16 / bytes_per_second}, {1024, 1024 / bytes_per_second}};
  link.all_gather = link.reduce_scatter = {curve, curve, {}};
  return rates;
}

passes::PlanOptions by_block(const graph::Graph& toy) {
  passes::PlanOptions options;
  options.buckets = passes::by_block(toy);
  return options;
}

}  // namespace

class CostTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void first_module_is_a_bucket_and_no_rule_closes_the_second() {
    QCOMPARE(greedy(modules(5), bytes_per_second(kNothing, kNothing)), QString("a bcde"));
  }

  void time_closes_a_bucket() {
    // A bucket's second of compute hides 250 bytes: two modules. Two modules hide five.
    QCOMPARE(greedy(modules(9), bytes_per_second(250, kNothing)), QString("a bc defgh i"));
    // Twice the time, twice the bytes.
    QCOMPARE(greedy(modules(9), bytes_per_second(250, kNothing), {.relax = 1.0}),
             QString("a bcdef ghi"));
    // a's two seconds of backward hide 300 bytes.
    QCOMPARE(greedy(modules(9), bytes_per_second(kNothing, 150)), QString("a bcd efghi"));
  }

  void what_is_gathered_again_takes_from_the_scatter() {
    auto all = modules(9);
    for (auto& module : all) module.gathered_again = true;
    // A gather takes a second, a module's scatter another. a's two seconds hide b's and c's. The
    // four of b and c hide three more beside a's gather for backward.
    const cost::Transfers transfers{[](int64_t) { return 1.0; }, bytes_per_second(1, 100).scatter};
    QCOMPARE(greedy(all, transfers), QString("a bc def ghi"));
    for (auto& module : all) module.gathered_again = false;
    QCOMPARE(greedy(all, transfers), QString("a bc defg hi"));
  }

  void memory_closes_a_bucket() {
    // Two gathers and two scatters of 100 bytes a module.
    QCOMPARE(greedy(modules(6), bytes_per_second(kNothing, kNothing), {.headroom = 800}),
             QString("a bc de f"));
    QCOMPARE(greedy(modules(6), bytes_per_second(kNothing, kNothing), {.headroom = 799}),
             QString("a b c d e f"));
  }

  void size_closes_a_bucket() {
    QCOMPARE(greedy(modules(6), bytes_per_second(kNothing, kNothing), {.largest_bytes = 300}),
             QString("a bcd ef"));
  }

  void modules_of_the_toy() {
    const graph::Graph toy = capture_toy();
    const cost::CostModel model(rates(1e9));
    const auto costs = cost::module_costs(toy, model, true);
    QCOMPARE(costs.size(), size_t{3});
    const std::vector<std::pair<std::string, int64_t>> expected = {
        {"block.0", 64}, {"block.1", 64}, {"head", 48}};
    for (size_t i = 0; i < costs.size(); ++i) {
      QCOMPARE(costs[i].module, expected[i].first);
      QCOMPARE(costs[i].gather_bytes, expected[i].second);
      QCOMPARE(costs[i].scatter_bytes, expected[i].second);
      QVERIFY(costs[i].forward_seconds > 0 && costs[i].backward_seconds > costs[i].forward_seconds);
      QCOMPARE(costs[i].gathered_again, i < 2);
    }
    // All compute of forward and backward is some module's.
    double sum = 0, all = 0;
    for (const auto& each : costs) sum += each.forward_seconds + each.backward_seconds;
    for (const auto& node : toy.nodes)
      if (node.phase != graph::Phase::optimizer) all += model.seconds(toy, node);
    QVERIFY(std::abs(sum - all) < 1e-12);
  }

  void clock_data() {
    QTest::addColumn<QString>("nodes");
    QTest::addColumn<bool>("wrapped");
    QTest::addColumn<double>("beside");
    QTest::addColumn<double>("lost");
    // A gather takes three seconds, `beside` compute, which loses `lost`; any other node takes two.
    QTest::addColumn<double>("step");
    QTest::addColumn<double>("exposed");
    const char* gather =
        "  %2: f32[4, 2] = heddle.all_gather([%0], rows=[4], group=\"dp_shard\")\n";
    const char* wait = "  %3: f32[4, 2] = heddle.wait([%2])\n";
    const char* before = "  %4: f32[4, 2] = aten.silu(%1)\n";
    const char* behind = "  %5: f32[4, 2] = aten.silu(%3)\n";
    const auto order = [](auto... parts) { return (QString() + ... + parts); };
    QTest::newRow("one after the other")
        << order(before, gather, wait, behind) << false << 3.0 << 0.0 << 7.0 << 3.0;
    QTest::newRow("beside compute")
        << order(gather, before, wait, behind) << false << 3.0 << 0.0 << 5.0 << 1.0;
    // A third of it is done in two seconds, the rest takes two more.
    QTest::newRow("the gather pays")
        << order(gather, before, wait, behind) << false << 6.0 << 0.0 << 6.0 << 2.0;
    // In its three seconds one and a half are computed.
    QTest::newRow("compute pays") << order(gather, before, wait, behind) << false << 3.0 << 1.5
                                  << 5.5 << 0.0;
    // Compute takes four seconds, two thirds of the gather are done then.
    QTest::newRow("both pay") << order(gather, before, wait, behind) << false << 6.0 << 3.0 << 7.0
                              << 1.0;
    const char* second =
        "  %6: f32[4, 2] = heddle.all_gather([%0], rows=[4], group=\"dp_shard\")\n";
    const char* third = "  %7: f32[4, 2] = heddle.wait([%6])\n";
    // 2 hidden, 1 exposed, 2 hidden, 1 exposed.
    QTest::newRow("one link") << order(gather, second, before, wait, behind, third) << false << 3.0
                              << 0.0 << 6.0 << 2.0;
    // The gather is at the step's end: the next step begins beside it.
    QTest::newRow("wraps around") << order(gather, before, wait, behind) << true << 3.0 << 0.0
                                  << 5.0 << 1.0;
  }
  void clock() {
    QFETCH(QString, nodes);
    QFETCH(bool, wrapped);
    QFETCH(double, beside);
    QFETCH(double, lost);
    QFETCH(double, step);
    QFETCH(double, exposed);
    graph::Graph graph = parsed(nodes.toStdString());
    if (wrapped) std::rotate(graph.nodes.begin(), graph.nodes.begin() + 1, graph.nodes.end());
    const auto program = cost::program_of(graph, [=](const graph::Node& node) {
      return graph::is_collective(node) ? cost::Duration{3.0, beside, lost} : cost::Duration{2.0};
    });
    const cost::Simulated simulated = cost::simulate(program);
    QCOMPARE(simulated.step_seconds, step);
    QCOMPARE(simulated.exposed_seconds, exposed);
    double waited = 0;
    for (const cost::Transferred& transfer : simulated.transfers) waited += transfer.exposed;
    QCOMPARE(waited, exposed);
    QCOMPARE(simulated.compute_seconds + exposed, step);
  }

  void two_wires_data() {
    QTest::addColumn<QString>("nodes");
    // A transfer inside a node takes two seconds, one over the network four and half of the
    // computing time next to it; any other node takes two.
    QTest::addColumn<double>("step");
    QTest::addColumn<double>("exposed");
    const char* far = "  %2: f32[4, 2] = heddle.all_gather([%0], rows=[4], group=\"dp_shard\")\n";
    const char* near = "  %3: f32[4, 2] = heddle.all_gather([%0], rows=[4], group=\"tp\")\n";
    const char* wait_far = "  %4: f32[4, 2] = heddle.wait([%2])\n";
    const char* wait_near = "  %5: f32[4, 2] = heddle.wait([%3])\n";
    const char* compute = "  %6: f32[4, 2] = aten.silu(%1)\n";
    const char* after = "  %7: f32[4, 2] = aten.silu(%5)\n  %8: f32[4, 2] = aten.silu(%4)\n";
    const auto order = [](auto... parts) { return (QString() + ... + parts); };
    // The near one does not wait for the far one. 2 exposed, then 2 computed in 4 seconds, in whose
    // first half the far one ends.
    QTest::newRow("at the same time")
        << order(far, near, wait_near, compute, wait_far, after) << 2.0 + 3.0 + 4.0 << 2.0;
    QTest::newRow("the far one is waited for first")
        << order(near, far, wait_far, wait_near, compute, after) << 4.0 + 6.0 << 4.0;
  }
  void two_wires() {
    QFETCH(QString, nodes);
    QFETCH(double, step);
    QFETCH(double, exposed);
    const graph::Graph graph = parsed(nodes.toStdString());
    const auto program = cost::program_of(graph, [](const graph::Node& node) {
      if (!graph::is_collective(node)) return cost::Duration{2.0};
      return graph::group_of(node) == "tp" ? cost::Duration{2.0, 2.0, 0.0}
                                           : cost::Duration{4.0, 4.0, 2.0, cost::Wire::network};
    });
    const cost::Simulated simulated = cost::simulate(program);
    QCOMPARE(simulated.step_seconds, step);
    QCOMPARE(simulated.exposed_seconds, exposed);
  }

  void a_refined_transfer_moves_over_the_same_wire() {
    const graph::Graph graph = parsed(
        "  %2: f32[4, 2] = heddle.all_gather([%0], rows=[4], group=\"dp_shard\")\n"
        "  %3: f32[4, 2] = heddle.wait([%2])\n");
    cost::Rates slow = rates(1e9);
    slow.links["dp_shard"].wire = cost::Wire::network;
    const double before = cost::CostModel(slow).transfer(graph, graph.nodes[0]).alone;
    slow.refinement.runs = 1;
    const std::string kind = cost::work_name(cost::WorkKind::gathers, slow.links["dp_shard"]);
    slow.refinement.factors[kind] = 2;
    const cost::Duration refined = cost::CostModel(slow).transfer(graph, graph.nodes[0]);
    QCOMPARE(refined.alone, 2 * before);
    QVERIFY(refined.wire == cost::Wire::network);
  }

  void best_is_the_fastest_that_fits() {
    const graph::Graph toy = capture_toy();
    const passes::PlanOptions base = by_block(toy);
    const cost::CostModel model(rates(1e9));
    const auto all = cost::open_candidates(toy, base, model, 0);
    QVERIFY(all.size() > 4);
    for (const cost::Candidate& each : all)
      QVERIFY(std::cmp_less_equal(each.overlap.gathers_in_flight, each.buckets.size()));
    const auto best = cost::choose_best(toy, base, all, model, 0);
    QVERIFY(best.fits);
    for (const cost::Candidate& each : all) {
      const auto alone = cost::choose_best(toy, base, {each}, model, 0);
      QVERIFY(best.expected.step_seconds <= alone.expected.step_seconds * 1.002);
    }
    QCOMPARE(best.bytes, cost::rank_bytes(best.plan, model));
  }

  void of_equals_the_one_with_most_time_to_spare() {
    const graph::Graph toy = capture_toy();
    const passes::PlanOptions base = by_block(toy);
    const auto with = [&](int gathers) {
      return cost::Candidate{"", base.buckets, {.gathers_in_flight = gathers}};
    };
    const cost::CostModel free(rates(1e18));
    const auto best = cost::choose_best(toy, base, {with(1), with(2), with(0)}, free, 0);
    QCOMPARE(best.chosen.overlap.gathers_in_flight, 2);
  }

  void a_limit_is_obeyed_or_refused() {
    const graph::Graph toy = capture_toy();
    const passes::PlanOptions base = by_block(toy);
    const cost::CostModel model(rates(1e9));
    const auto lean = cost::lean_candidates(passes::one_each(toy));
    const auto refused = cost::choose_best(toy, base, lean, model, 1);
    QVERIFY(!refused.fits && refused.bytes > 1);
    const int64_t least = refused.bytes;
    const auto met = cost::choose_best(toy, base, lean, model, least);
    QVERIFY(met.fits);
    QCOMPARE(met.bytes, least);
    QVERIFY(!cost::choose_best(toy, base, lean, model, least - 1).fits);
    // No candidate needs less, and what does not fit is not said to.
    for (const int64_t limit : {least - 1, least + 64, least + 256}) {
      const auto open = cost::choose_best(toy, base, cost::open_candidates(toy, base, model, limit),
                                          model, limit);
      QVERIFY(open.bytes >= least);
      QCOMPARE(open.fits, open.bytes <= limit);
    }
  }

  void of_those_that_do_not_fit_the_one_with_least_memory_is_chosen() {
    const graph::Graph toy = capture_toy();
    const passes::PlanOptions base = by_block(toy);
    const cost::CostModel model(rates(1e9));
    const auto all = cost::open_candidates(toy, base, model, 0);
    const auto chosen = cost::choose_best(toy, base, all, model, 1);
    QVERIFY(!chosen.fits);
    QCOMPARE(chosen.bytes, cost::rank_bytes(chosen.plan, model));
    for (const cost::Candidate& each : all)
      QVERIFY(chosen.bytes <= cost::choose_best(toy, base, {each}, model, 1).bytes);
  }

  void buckets_are_named_as_a_recipe_writes_them() {
    const auto names = [](passes::BucketPlan plan) {
      passes::name_buckets(plan);
      QStringList all;
      for (const passes::Bucket& bucket : plan) all << QString::fromStdString(bucket.name);
      return all.join(' ');
    };
    const std::string wq = ".attention.wq", w1 = ".feed_forward.w1";
    const auto layer = [&](int i) { return "layers." + std::to_string(i); };
    QCOMPARE(names({{"", {"tok_embeddings"}},
                    {"", {layer(0) + wq, layer(0) + w1, layer(1) + wq, layer(1) + w1}},
                    {"", {layer(2) + wq, layer(2) + w1, layer(3) + wq}},
                    {"", {layer(3) + w1, "norm", "output"}}}),
             QString("tok_embeddings layers.0-1 layers.2+layers.3.attention.wq "
                     "layers.3.feed_forward.w1+norm+output"));
    QCOMPARE(names({{"", {layer(9), layer(10), layer(11), "norm"}}}), QString("layers.9-11+norm"));
    QCOMPARE(names({{"", {layer(2), layer(0), layer(1)}}}), QString("layers.2+layers.0-1"));
    QCOMPARE(names({{"", {"tok_embeddings", layer(0), layer(1), "norm", "output"}}}),
             QString("tok_embeddings+output"));
  }
};

HEDDLE_TEST(CostTest)
#include "cost_test.moc"
