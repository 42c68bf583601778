// Curves, and the file that keeps them.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/cost/cpu_use.h"
#include "engine/cost/rates.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

cost::Calibration calibration(const std::string& host, int64_t ranks, double lost) {
  return {
      .host = host,
      .ranks = ranks,
      .threads = 1,
      .cores = 4,
      .time = 1e9,
      .engine = "1",
      .speed = {1e11, 1e10},
      .process_bytes = 180'000'000,
      .links = {{"memory",
                 ranks,
                 {{{4096, 1e-4}, {8192, 3e-4}}, {{4096, 5e-4}}, {{4096, lost}}},
                 {{{4096, 2e-4}}, {{4096, 6e-4}}, {{4096, 7e-4}}},
                 false}},
      .operators = {{"aten.mm", "f32", {1024, 512, 256}, 5e10}, {"heddle.rope", "bf16", {}, 2e9}}};
}

// A moment after such a calibration, by the same engine.
cost::Host host(const std::string& name, int64_t ranks, int64_t threads = 1) {
  return {.name = name,
          .ranks = ranks,
          .threads = threads,
          .cores = 4,
          .time = 1e9 + 60,
          .engine = "1"};
}

QString remarks(const cost::Rates& rates) {
  return QString::fromStdString(cost::shortcomings(rates));
}

}  // namespace

class CalibrationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_curve_is_straight_between_points() {
    const cost::Curve curve = {{1000, 1.0}, {3000, 2.0}};
    QCOMPARE(cost::at_bytes(curve, 10), 1.0);
    QCOMPARE(cost::at_bytes(curve, 1000), 1.0);
    QCOMPARE(cost::at_bytes(curve, 2000), 1.5);
    QCOMPARE(cost::at_bytes(curve, 3000), 2.0);
    QCOMPARE(cost::at_bytes(curve, 6000), 4.0);  // at the last point's rate
  }

  void the_file_keeps_one_of_each_kind() {
    const QTemporaryDir folder;
    const std::string file = folder.filePath("cache/calibration.json").toStdString();
    QVERIFY(cost::read_calibrations(file).value().empty());
    for (const auto& each : {calibration("a", 2, 0.1), calibration("a", 4, 0.2),
                             calibration("b", 2, 0.3), calibration("a", 2, 0.4)})
      QVERIFY(cost::keep_calibration(file, each).has_value());
    const auto read = cost::read_calibrations(file);
    QVERIFY(read && read->size() == 3);
    const cost::Calibration& last = read->back();
    QCOMPARE(last.host, std::string("a"));
    QCOMPARE(last.ranks, int64_t{2});
    QCOMPARE(last.threads, int64_t{1});
    QCOMPARE(last.cores, int64_t{4});
    QCOMPARE(last.time, 1e9);
    QCOMPARE(last.engine, std::string("1"));
    QCOMPARE(last.speed, (cost::MachineSpeed{1e11, 1e10}));
    QCOMPARE(last.process_bytes, int64_t{180'000'000});
    const cost::Link& link = last.links.at(0);
    QCOMPARE(link.ranks, int64_t{2});
    QCOMPARE(link.all_gather.alone.back().bytes, int64_t{8192});
    QCOMPARE(link.all_gather.alone.back().seconds, 3e-4);
    QCOMPARE(link.all_gather.beside_compute.back().seconds, 5e-4);
    QCOMPARE(link.all_gather.lost.back().seconds, 0.4);
    QCOMPARE(link.reduce_scatter.alone.back().seconds, 2e-4);
    QCOMPARE(link.reduce_scatter.lost.back().seconds, 7e-4);
    QCOMPARE(last.operators.front().shape[2], int64_t{256});
    QCOMPARE(last.operators.back().per_second, 2e9);
  }

  void what_cannot_be_read_is_told_and_replaced_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("told");
    QTest::newRow("cut off") << QByteArray("{\"version\": 5, \"calibr") << "not JSON";
    QTest::newRow("no numbers") << QByteArray("{\"version\": 5, \"calibrations\": [{\"host\": 1}]}")
                                << "damaged";
    QTest::newRow("older") << QByteArray("{\"version\": 4, \"calibrations\": []}") << "version 4";
  }
  void what_cannot_be_read_is_told_and_replaced() {
    QFETCH(QByteArray, content);
    QFETCH(QString, told);
    const QTemporaryDir folder;
    const QString path = folder.filePath("calibration.json");
    QFile file(path);
    QVERIFY(file.open(QFile::WriteOnly) && file.write(content) == content.size());
    file.close();
    const auto read = cost::read_calibrations(path.toStdString());
    QVERIFY(!read);
    const QString message = QString::fromStdString(read.error().message);
    QVERIFY2(message.contains(told) && message.contains(path) &&
                 message.contains("heddle-engine calibrate"),
             qPrintable(message));
    QVERIFY(cost::keep_calibration(path.toStdString(), calibration("a", 2, 0.1)).has_value());
    QCOMPARE(cost::read_calibrations(path.toStdString()).value().size(), size_t{1});
  }

  void what_was_not_measured_is_estimated_and_said() {
    const cost::GroupKinds groups = {{"dp_shard", {"memory", 2}}, {"dp_replicate", {"tcp", 2}}};
    const std::vector<cost::Calibration> all = {calibration("a", 2, 0.1), calibration("a", 4, 0.2)};

    const cost::Rates known = cost::rates_of(all, host("a", 2), {{"dp_shard", {"memory", 2}}});
    QCOMPARE(remarks(known), QString());
    QCOMPARE(known.links.at("dp_shard").all_gather.lost.back().seconds, 0.1);

    const cost::Rates half = cost::rates_of(all, host("a", 2), groups);
    QVERIFY(half.links.at("dp_replicate").estimated && !half.links.at("dp_shard").estimated);
    QVERIFY(remarks(half).contains("tcp between the 2 ranks"));

    const cost::Rates none = cost::rates_of(all, host("b", 2), groups);
    QVERIFY(none.operators.empty());
    QVERIFY(remarks(none).contains("operators are guessed"));
    // The formula: (ranks − 1) · latency, and (ranks − 1) / ranks of the bytes on the wire.
    const cost::Link two = cost::formula_link("memory", 2), four = cost::formula_link("memory", 4);
    const auto per_byte = [](const cost::Link& link) {
      const auto& [a, b] = std::pair(link.all_gather.alone.front(), link.all_gather.alone.back());
      return (b.seconds - a.seconds) / static_cast<double>(b.bytes - a.bytes);
    };
    QVERIFY(std::abs(per_byte(four) / per_byte(two) - 1.5) < 1e-9);
  }

  // One rank alone has all cores, eight share four.
  void operators_go_by_the_cores_that_a_rank_has() {
    std::vector<cost::Calibration> all = {calibration("a", 4, 0.1), calibration("a", 16, 0.1)};
    all[1].operators[0].per_second = 5e10 / 16;
    const auto product = [&](const cost::Host& of) {
      return cost::rates_of(all, of, {}).operators.at(0).per_second;
    };
    const auto is = [](double value, double wanted) { return std::abs(value / wanted - 1) < 1e-9; };
    QVERIFY(is(product(host("a", 4)), 5e10));
    QVERIFY(is(product(host("a", 16)), 5e10 / 16));
    QVERIFY(is(product(host("a", 8)), 5e10 / 4));        // between both, by octaves
    QVERIFY(is(product(host("a", 1, 4)), 4 * 5e10));     // beyond: four cores instead of one
    QVERIFY(is(product(host("a", 2, 1)), 5e10));         // a core each, as with four
    QVERIFY(is(product(host("a", 32)), 5e10 / 16 / 2));  // beyond: half as much of a core
    QVERIFY(remarks(cost::rates_of(all, host("a", 8), {}))
                .contains("operators were calibrated with 4 and with 16 ranks"));
    QVERIFY(remarks(cost::rates_of(all, host("a", 1, 4), {}))
                .contains("operators were calibrated with 4 ranks"));
  }

  void a_part_of_the_ranks_has_the_link_of_the_nearest() {
    std::vector<cost::Calibration> all = {calibration("a", 2, 0.1), calibration("a", 4, 0.2)};
    const auto gather = [&](const cost::Host& of, int64_t ranks) {
      return cost::rates_of(all, of, {{"tp", {"memory", ranks}}})
          .links.at("tp")
          .all_gather.alone.front()
          .seconds;
    };
    QCOMPARE(gather(host("a", 4), 2), 1e-4);
    QCOMPARE(gather(host("a", 4), 4), 1e-4);
    // Two of eight ranks on four cores: each has half of a core.
    QCOMPARE(gather(host("a", 8), 2), 2e-4);
    // Eight ranks send 7/8 of a whole, four 3/4.
    QVERIFY(std::abs(gather(host("a", 4), 8) / (1e-4 * 7 / 6) - 1) < 1e-9);
    // Measured as two of four: that counts.
    all[1].links.push_back(all[1].links.front());
    all[1].links.back().ranks = 2;
    all[1].links.back().all_gather.alone.front().seconds = 9e-4;
    all[0].cores = 1;
    QCOMPARE(gather(host("a", 4), 2), 9e-4);
  }

  void an_old_calibration_is_said() {
    std::vector<cost::Calibration> all = {calibration("a", 2, 0.1)};
    cost::Host later = host("a", 2);
    later.time += 30 * 86400.0;
    later.engine = "2";
    const QString said = remarks(cost::rates_of(all, later, {}));
    QVERIFY2(said.contains("calibrated 30 days ago"), qPrintable(said));
    QVERIFY2(said.contains("calibrated by version 1, and this is 2"), qPrintable(said));
  }

  void a_machine_that_is_slower_now_is_said_data() {
    QTest::addColumn<double>("flops");
    QTest::addColumn<double>("bytes");
    QTest::addColumn<QString>("said");
    QTest::newRow("as then") << 1e11 << 1e10 << "";
    QTest::newRow("nearly") << 0.95e11 << 1e10 << "";
    QTest::newRow("half") << 5e10 << 5e9
                          << "calibrated 3 hours ago, and the machine is slower now: steps may "
                             "take 100 % longer than predicted; heddle-engine calibrate measures";
    QTest::newRow("memory alone") << 1e11 << 5e9 << "50 % longer";
    QTest::newRow("twice as fast") << 2e11 << 2e10 << "is faster now: steps may take 50 % less";
  }
  void a_machine_that_is_slower_now_is_said() {
    QFETCH(double, flops);
    QFETCH(double, bytes);
    QFETCH(QString, said);
    const QString remark = QString::fromStdString(
        cost::speed_remark(calibration("a", 2, 0.1), {flops, bytes}, 1e9 + 3 * 3600));
    QVERIFY2(said.isEmpty() ? remark.isEmpty() : remark.contains(said), qPrintable(remark));
  }

  // A machine that others use now is slower: its calibration is not wrong.
  void a_busy_machine_is_told_apart_from_a_slow_one() {
    const cost::Calibration then = calibration("a", 2, 0.1);
    const cost::MachineSpeed slow{5e10, 5e9}, busy{5e10, 5e9, 0.5}, faster{2e11, 2e10, 0.2};
    QVERIFY(cost::busy_words(slow).empty());
    QVERIFY(cost::busy_words(busy).starts_with("other programs use 50 % of this machine's cores"));
    QVERIFY(!cost::speed_remark(then, slow, 1e9).empty());
    QVERIFY(cost::speed_remark(then, busy, 1e9).empty());
    QVERIFY(cost::speed_remark(then, faster, 1e9).find("faster") != std::string::npos);
  }

  void what_was_calibrated_on_a_busy_machine_is_said() {
    cost::Calibration busy = calibration("a", 2, 0.1);
    busy.speed.others = 0.5;
    busy.left_out = {"products in 8 bits"};
    const cost::Calibration kept = cost::calibration_from_json(cost::to_json(busy));
    const QString said =
        remarks(cost::rates_of({kept}, {.name = "a", .ranks = 2, .threads = 1, .engine = "1"}, {}));
    QVERIFY2(said.contains("while other programs used 50 % of the cores"), qPrintable(said));
    QVERIFY2(said.contains("not calibrated for lack of time: products in 8 bits"),
             qPrintable(said));
  }

  void cores_that_others_use_are_counted() {
    const cost::CpuTimes before{.cores = 4, .busy = 100, .own = 10, .at = 0};
    // Ten seconds of four cores: of forty, this process used eight, others sixteen.
    cost::CpuTimes after{.cores = 4, .busy = 124, .own = 18, .at = 10};
    const cost::CpuUse some = cost::cpu_use(before, after);
    QVERIFY(std::abs(some.own - 0.2) < 1e-9 && std::abs(some.others - 0.4) < 1e-9);
    QVERIFY(!some.is_busy());  // two fifths were idle
    QVERIFY(cost::cpu_use(before, {.cores = 4, .busy = 138, .own = 18, .at = 10}).is_busy());
    // Two such processes, and nobody else.
    QVERIFY(!cost::cpu_use(before, {.cores = 4, .busy = 138, .own = 29, .at = 10}, 2).is_busy());
    QVERIFY(!cost::cpu_use({}, {}).is_busy());
    const cost::CpuTimes now = cost::cpu_times();
    QVERIFY(now.cores > 0 && now.busy >= now.own && now.own > 0);
  }

  void the_newest_of_a_host_is_found() {
    std::vector<cost::Calibration> all = {calibration("a", 2, 0.1), calibration("a", 4, 0.2),
                                          calibration("b", 8, 0.2)};
    all[1].time += 1;
    all[2].time += 2;
    QCOMPARE(cost::newest(all, "a")->ranks, int64_t{4});
    QVERIFY(!cost::newest(all, "c"));
  }

  void a_machine_has_a_speed() {
    const cost::MachineSpeed speed = cost::measure_machine_speed();
    QVERIFY(speed.flops_per_second > 1e8 && speed.bytes_per_second > 1e8);
  }
};

HEDDLE_TEST(CalibrationTest)
#include "calibration_test.moc"
