// Kernels and collectives of the catalogue's hardware: anchors that were published, order, growth.
#include <QTest>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/cost/catalogue_rates.h"
#include "engine/cost/cost_model.h"
#include "engine/hardware/catalogue.h"
#include "engine/recipe/parse.h"
#include "engine/step/capture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using cost::Collective;
using cost::Executor;
using cost::Float8;
using cost::Placement;

namespace {

const hardware::Catalogue& catalogue() {
  static const hardware::Catalogue all = hardware::read_catalogue(hardware::built_in());
  return all;
}

hardware::Entry entry(const char* name) { return catalogue().find(name).value(); }

double seconds(Collective collective, double bytes, const Placement& placement,
               const hardware::Entry& of) {
  return cost::collective_seconds(collective, bytes, placement, of.node, of.network);
}

// The rate at sizes where latency is nothing, in GB/s.
double rate(Collective collective, const Placement& placement, const hardware::Entry& of) {
  return 1e12 / seconds(collective, 1e12, placement, of) / 1e9;
}

cost::DeviceRates device(const char* name, Executor executor = Executor::heddle,
                         Float8 float8 = Float8::none) {
  return cost::device_rates(entry(name).device, executor, float8);
}

// One product by itself.
double burst_tflops(const cost::DeviceRates& rates, int64_t m, int64_t k, int64_t n) {
  return 2e-12 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n) /
         cost::product_seconds(rates, m, k, n, rates.bf16_flops, 2, 2);
}

// One product among many, as in training; in 8 bits with the conversion of its operands.
double tflops(const cost::DeviceRates& rates, int64_t m, int64_t k, int64_t n, bool eight = false) {
  double seconds = cost::product_seconds(rates, m, k, n, false, eight);
  for (const int64_t elements : {m * k, k * n})
    if (eight)
      seconds += cost::bytes_seconds(rates, 5.0 * static_cast<double>(elements),
                                     graph::Op("heddle.float8_quantize")->unfused);
  return 2e-12 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n) / seconds;
}

bool near(double value, double wanted, double share) {
  return std::abs(value / wanted - 1) <= share;
}

recipe::Recipe resolved(const QString& keys, int64_t ranks) {
  const std::string text =
      "[model]\npreset = \"llama3-8b\"\nvocab_size = 128256\n[data]\ntoken_ids = \"x\"\n" +
      keys.toStdString();
  const auto parsed = recipe::resolve(recipe::parse(text, "r.toml"), ranks);
  for (const auto& fault : parsed.faults) qWarning("%s", fault.str().c_str());
  return parsed.recipe;
}

// The captured step of 8B on eight ranks.
const graph::Graph& step_of_8b() {
  static const graph::Graph graph = [] {
    auto captured = step::capture_step(resolved("", 8));
    if (!captured) qFatal("%s", captured.error().message.c_str());
    return std::move(captured->graph);
  }();
  return graph;
}

}  // namespace

class HardwareRatesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void gathers_are_as_published_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<int>("nodes");
    QTest::addColumn<double>("gb_per_s");
    QTest::addColumn<double>("latency_us");  // of Simple, the slowest to begin
    QTest::newRow("2") << 2 << 1 << 537.0 << 8.0;
    QTest::newRow("4") << 4 << 1 << 434.0 << 17.0;
    QTest::newRow("8") << 8 << 1 << 394.0 << 30.0;
    QTest::newRow("2 nodes") << 16 << 2 << 410.0 << 70.0;
    QTest::newRow("4 nodes") << 32 << 4 << 396.0 << 146.0;
    QTest::newRow("8 nodes") << 64 << 8 << 390.0 << 297.0;
    QTest::newRow("16 nodes") << 128 << 16 << 387.0 << 599.0;
    QTest::newRow("32 nodes") << 256 << 32 << 386.0 << 1204.0;
    QTest::newRow("2 nodes, one each") << 2 << 2 << 96.0 << 22.0;
    QTest::newRow("4 nodes, one each") << 4 << 4 << 64.0 << 50.0;
    QTest::newRow("8 nodes, one each") << 8 << 8 << 55.0 << 106.0;
  }
  void gathers_are_as_published() {
    QFETCH(int, ranks);
    QFETCH(int, nodes);
    QFETCH(double, gb_per_s);
    QFETCH(double, latency_us);
    const hardware::Entry h100 = entry("h100-sxm");
    const Placement placement{ranks, nodes};
    const double reached = rate(Collective::gather, placement, h100);
    QVERIFY2(near(reached, gb_per_s, 0.02), qPrintable(QString::number(reached)));
    // Small ones begin sooner, by LL; none takes longer than the published line.
    const double small = seconds(Collective::gather, 4096, placement, h100);
    QVERIFY2(small < latency_us * 1e-6, qPrintable(QString::number(small * 1e6)));
    QVERIFY(small > 0.1 * latency_us * 1e-6);
  }

  void sums_and_exchanges_are_as_published() {
    const hardware::Entry h100 = entry("h100-sxm");
    for (const auto& [ranks, gb_per_s] : {std::pair(2, 324.0), {4, 236.0}, {8, 267.0}}) {
      const double reached = rate(Collective::all_reduce, {ranks, 1}, h100);
      QVERIFY2(near(reached, gb_per_s, 0.02), qPrintable(QString::number(reached)));
    }
    QVERIFY(near(rate(Collective::all_to_all, {8, 1}, h100), 380, 0.01));
  }

  // A tree has fewer steps, a ring moves a little less.
  void a_small_sum_goes_by_a_tree_and_a_large_one_by_a_ring() {
    const hardware::Entry h100 = entry("h100-sxm");
    const Placement wide{64, 64};
    const double base = h100.node.base_us.value[0], step = h100.network.step_us.value[0];
    const double ring = (base + 2 * 63 * step) * 1e-6, tree = (base + 2 * 6 * step) * 1e-6;
    const double small = seconds(Collective::all_reduce, 8, wide, h100);
    QVERIFY(small < ring && near(small, tree, 0.01));
    QVERIFY(near(rate(Collective::all_reduce, wide, h100), 48.0 * 64 / 63 / 2, 0.01));
  }

  void more_bytes_and_more_ranks_never_take_less() {
    for (const std::string& name : catalogue().names()) {
      const hardware::Entry of = catalogue().find(name).value();
      for (const Collective collective : {Collective::gather, Collective::all_to_all,
                                          Collective::all_reduce, Collective::to_neighbour}) {
        double least = 0;
        for (double bytes = 1; bytes < 1e11; bytes *= 3) {
          const double next = seconds(collective, bytes, {8, 1}, of);
          QVERIFY2(next >= least && std::isfinite(next), name.c_str());
          least = next;
        }
      }
      for (const double bytes : {1e3, 1e6, 1e9}) {
        double least = 0;
        for (int64_t ranks = 2; ranks <= of.node.devices; ++ranks) {
          const double next = seconds(Collective::gather, bytes, {ranks, 1}, of);
          QVERIFY2(next >= least, name.c_str());
          least = next;
        }
        for (int64_t nodes = 2; nodes <= 256; nodes *= 2) {
          const double next =
              seconds(Collective::gather, bytes, {nodes * of.node.devices, nodes}, of);
          QVERIFY2(next >= least * 0.95, name.c_str());  // published of 16 H100: 4 % less than of 8
          least = next;
        }
      }
    }
  }

  void one_rank_moves_nothing() {
    QCOMPARE(seconds(Collective::gather, 1e9, {1, 1}, entry("h100-sxm")), 0.0);
  }

  void large_products_come_near_the_best_that_was_measured() {
    const auto h100 = device("h100-sxm");
    const double best = burst_tflops(h100, 16384, 8192, 16384);
    QVERIFY2(near(best, 794, 0.05), qPrintable(QString::number(best)));
    QVERIFY(near(burst_tflops(device("b200"), 16384, 8192, 16384), 1745, 0.06));
    QVERIFY(near(burst_tflops(device("a100-80"), 16384, 8192, 16384), 271, 0.05));
    // As the 8B has them, at 8,192 tokens.
    for (const auto& [k, n] :
         {std::pair<int64_t, int64_t>{4096, 4096}, {4096, 14336}, {14336, 4096}, {4096, 128256}}) {
      const double reached = burst_tflops(h100, 8192, k, n);
      QVERIFY2(reached > 580 && reached < 794, qPrintable(QString::number(reached)));
    }
  }

  // 132 tiles of 128 × 256 are one wave of an H100, 133 two.
  void a_wave_more_shows() {
    const auto h100 = device("h100-sxm");
    const double one = burst_tflops(h100, 128 * 12, 8192, 256 * 11);
    const double more = burst_tflops(h100, 128 * 12, 8192, 256 * 11 + 64);
    QVERIFY2(more < 0.85 * one, qPrintable(QString("%1 %2").arg(one).arg(more)));
  }

  // Long training holds the clock down; a single product does not.
  void long_training_keeps_a_share_of_it() {
    const auto h100 = device("h100-sxm");
    const double share = entry("h100-sxm").device.sustained_share.value;
    QVERIFY(share < 1);
    QVERIFY(near(tflops(h100, 16384, 8192, 16384), share * burst_tflops(h100, 16384, 8192, 16384),
                 0.01));
  }

  void small_and_thin_products_are_slow() {
    const auto h100 = device("h100-sxm");
    QVERIFY(tflops(h100, 128, 128, 128) < 10);
    QVERIFY(tflops(h100, 8192, 64, 8192) < 400);
    // A vector times a matrix: what memory gives.
    const double bytes = 2.0 * 16384 * 16384;
    QVERIFY(cost::product_seconds(h100, 1, 16384, 16384, false, false) >=
            bytes / h100.bytes_per_second);
  }

  void eight_bits_pay_for_large_products_alone() {
    for (const Float8 float8 : {Float8::tensorwise, Float8::rowwise}) {
      const auto h100 = device("h100-sxm", Executor::compiled, float8);
      QVERIFY(tflops(h100, 16384, 8192, 28672, true) > 1.3 * tflops(h100, 16384, 8192, 28672));
      QVERIFY(tflops(h100, 256, 256, 256, true) < tflops(h100, 256, 256, 256));
    }
    // No such units: bf16, and a remark.
    const auto rates = cost::catalogue_rates(entry("a100-80"), {}, {.float8 = Float8::rowwise});
    QCOMPARE(rates.device->float8, Float8::none);
    QCOMPARE(rates.remarks.size(), size_t{1});
  }

  void heddle_is_no_slower_than_compiled_and_that_than_eager() {
    const graph::Graph& graph = step_of_8b();
    const cost::Placements groups = cost::placements(recipe::Layout(resolved("", 8)), 8);
    std::vector<double> steps;
    for (const Executor executor : {Executor::heddle, Executor::compiled, Executor::eager}) {
      const cost::CostModel model(cost::catalogue_rates(entry("h100-sxm"), groups, {executor}));
      steps.push_back(0);
      for (const graph::Node& node : graph.nodes)
        if (!graph::is_wait(node))
          steps.back() += graph::is_collective(node) ? model.transfer(graph, node).alone
                                                     : model.seconds(graph, node);
    }
    QVERIFY2(steps[0] < steps[1] && steps[1] < steps[2],
             qPrintable(QString("%1 %2 %3").arg(steps[0]).arg(steps[1]).arg(steps[2])));
    // Node by node too.
    for (const auto& [less, more] :
         {std::pair(Executor::heddle, Executor::compiled), {Executor::compiled, Executor::eager}}) {
      const cost::CostModel a(cost::catalogue_rates(entry("h100-sxm"), groups, {less}));
      const cost::CostModel b(cost::catalogue_rates(entry("h100-sxm"), groups, {more}));
      for (const graph::Node& node : graph.nodes)
        QVERIFY2(a.seconds(graph, node) <= b.seconds(graph, node), node.op.text().c_str());
    }
  }

  void buckets_of_fsdp2_are_copied_and_that_takes_from_compute() {
    const graph::Graph& graph = step_of_8b();
    const cost::Placements groups = {{"dp_shard", {8, 1}}};
    const auto bytes_of = [&](const graph::Node& node) {
      return graph::is_all_gather(node) ? cost::whole_bytes(graph, node) : 0;
    };
    const graph::Node& gather = *std::ranges::max_element(graph.nodes, {}, bytes_of);
    const auto transfer = [&](Executor executor) {
      return cost::CostModel(cost::catalogue_rates(entry("h100-sxm"), groups, {executor}))
          .transfer(graph, gather);
    };
    const cost::Duration own = transfer(Executor::heddle), theirs = transfer(Executor::compiled);
    const auto bytes = static_cast<double>(cost::whole_bytes(graph, gather));
    const double copies = 2 * bytes / (3352e9 * 0.8);
    QVERIFY2(near(theirs.alone - own.alone, copies, 0.1),
             qPrintable(QString::number((theirs.alone - own.alone) * 1e6)));
    QVERIFY(near(theirs.lost - own.lost, copies, 0.1));
    // A gather takes 24 of 132 multiprocessors.
    QVERIFY(near(own.lost / own.beside_compute, 24.0 / 132, 0.01));
    QVERIFY(own.beside_compute > own.alone);
  }

  void ranks_fill_nodes_in_order() {
    const auto placed = [](const char* keys, int64_t ranks) {
      return cost::placements(recipe::Layout(resolved(QString("[parallelism]\n") + keys, ranks)),
                              8);
    };
    QCOMPARE(placed("", 8).at("dp_shard"), (Placement{8, 1}));
    QCOMPARE(placed("", 64).at("dp_shard"), (Placement{64, 8}));
    const auto tp = placed("tp = 8", 64);
    QCOMPARE(tp.at("tp"), (Placement{8, 1}));
    QCOMPARE(tp.at("dp_shard"), (Placement{8, 8}));
    const auto hybrid = placed("dp_replicate = 2\ndp_shard = 8", 16);
    QCOMPARE(hybrid.at("dp_shard"), (Placement{8, 1}));
    QCOMPARE(hybrid.at("dp_replicate"), (Placement{2, 2}));
    const auto pipeline = placed("pp = 4\ntp = 2\ndp_shard = 2", 16);
    QCOMPARE(pipeline.at("pp stage 0 to 1"), (Placement{2, 1}));
    QCOMPARE(pipeline.at("pp stage 1 to 2"), (Placement{2, 2}));
    QCOMPARE(pipeline.at("pp ends"), (Placement{2, 2}));
    QCOMPARE(pipeline.at("tp"), (Placement{2, 1}));
    // Groups of four on nodes of six: some lie on two.
    QCOMPARE(cost::placements(recipe::Layout(resolved("[parallelism]\ntp = 4", 12)), 6).at("tp"),
             (Placement{4, 2}));
  }

  void rates_go_from_rank_to_rank_whole() {
    const auto rates = cost::catalogue_rates(entry("h100-sxm"), {{"tp", {8, 1}}},
                                             {Executor::eager, Float8::rowwise});
    const auto back = cost::rates_from_json(cost::to_json(rates));
    QCOMPARE(back.device->executor, Executor::eager);
    QCOMPARE(back.device->bf16_flops, rates.device->bf16_flops);
    QCOMPARE(back.device->least_seconds, rates.device->least_seconds);
    QCOMPARE(back.links.at("tp").all_to_all.alone.back().seconds,
             rates.links.at("tp").all_to_all.alone.back().seconds);
    QVERIFY(cost::shortcomings(rates).empty());
  }

  void executors_have_names() {
    for (const char* name : cost::kExecutorNames) QVERIFY(cost::executor_of(name).has_value());
    QVERIFY(!cost::executor_of("jax"));
  }
};

HEDDLE_TEST(HardwareRatesTest)
#include "hardware_rates_test.moc"
