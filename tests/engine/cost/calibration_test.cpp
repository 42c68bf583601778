// Curves, and the file that keeps them.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "engine/cost/rates.h"

using namespace heddle;

namespace {

cost::Calibration calibration(const std::string& host, int64_t ranks, double lost) {
  return {host,
          {"memory",
           ranks,
           {{{4096, 1e-4}, {8192, 3e-4}}, {{4096, 5e-4}}, {{4096, lost}}},
           {{{4096, 2e-4}}, {{4096, 6e-4}}, {{4096, 7e-4}}},
           false},
          {{"aten.mm", "f32", {1024, 512, 256}, 5e10}, {"heddle.rope", "bf16", {}, 2e9}}};
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
    QCOMPARE(last.link.ranks, int64_t{2});
    QCOMPARE(last.link.all_gather.alone.back().bytes, int64_t{8192});
    QCOMPARE(last.link.all_gather.alone.back().seconds, 3e-4);
    QCOMPARE(last.link.all_gather.beside_compute.back().seconds, 5e-4);
    QCOMPARE(last.link.all_gather.lost.back().seconds, 0.4);
    QCOMPARE(last.link.reduce_scatter.alone.back().seconds, 2e-4);
    QCOMPARE(last.link.reduce_scatter.lost.back().seconds, 7e-4);
    QCOMPARE(last.operators.front().shape[2], int64_t{256});
    QCOMPARE(last.operators.back().per_second, 2e9);
  }

  void what_cannot_be_read_is_told_and_replaced_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("told");
    QTest::newRow("cut off") << QByteArray("{\"version\": 3, \"calibr") << "damaged";
    QTest::newRow("no numbers") << QByteArray("{\"version\": 3, \"calibrations\": [{\"host\": 1}]}")
                                << "damaged";
    QTest::newRow("older") << QByteArray("{\"version\": 2, \"calibrations\": []}") << "version 2";
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

    const cost::Rates known = cost::rates_of(all, "a", 2, {{"dp_shard", {"memory", 2}}});
    QCOMPARE(cost::shortcomings(known), std::string());
    QCOMPARE(known.links.at("dp_shard").all_gather.lost.back().seconds, 0.1);

    const cost::Rates half = cost::rates_of(all, "a", 2, groups);
    QVERIFY(half.links.at("dp_replicate").estimated && !half.links.at("dp_shard").estimated);
    QVERIFY(QString::fromStdString(cost::shortcomings(half)).contains("tcp between the 2 ranks"));

    const cost::Rates others = cost::rates_of(all, "a", 3, {});
    QVERIFY(QString::fromStdString(cost::shortcomings(others)).contains("calibrated with"));

    const cost::Rates none = cost::rates_of(all, "b", 2, groups);
    QVERIFY(none.operators.empty());
    QVERIFY(QString::fromStdString(cost::shortcomings(none)).contains("operators are guessed"));
    // The formula: (ranks − 1) · latency, and (ranks − 1) / ranks of the bytes on the wire.
    const cost::Link two = cost::formula_link("memory", 2), four = cost::formula_link("memory", 4);
    const auto per_byte = [](const cost::Link& link) {
      const auto& [a, b] = std::pair(link.all_gather.alone.front(), link.all_gather.alone.back());
      return (b.seconds - a.seconds) / static_cast<double>(b.bytes - a.bytes);
    };
    QVERIFY(std::abs(per_byte(four) / per_byte(two) - 1.5) < 1e-9);
  }
};

QTEST_GUILESS_MAIN(CalibrationTest)
#include "calibration_test.moc"
