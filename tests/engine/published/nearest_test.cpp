// The published rows: the table is sound, damage is reported, and the nearest rows are the most
// alike.
#include "engine/published/nearest.h"

#include <QTest>
#include <cmath>
#include <set>

#include "engine/hardware/catalogue.h"
#include "engine/published/accuracy.h"
#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

const std::vector<published::Row>& table() {
  static const std::vector<published::Row> rows =
      published::read_rows(published::built_in()).value();
  return rows;
}

recipe::Recipe resolved(const char* preset, const QString& keys, int64_t ranks) {
  const std::string text = std::string("model.preset = \"") + preset +
                           "\"\nmodel.vocab_size = 128256\ndata.token_ids = \"x\"\n" +
                           keys.toStdString();
  const auto parsed = recipe::resolve(recipe::parse(text, "r.toml"), ranks);
  for (const auto& fault : parsed.faults) qWarning("%s", fault.str().c_str());
  return parsed.recipe;
}

const std::string kHeader =
    std::string(published::built_in()).substr(0, std::string(published::built_in()).find('\n') + 1);

}  // namespace

class NearestTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_table_names_hardware_of_the_catalogue() {
    const auto catalogue = hardware::read_catalogue(hardware::built_in());
    QVERIFY(table().size() > 100);
    for (const published::Row& row : table()) {
      QVERIFY2(catalogue.find(row.hardware), row.hardware.c_str());
      QVERIFY2(!row.source.empty() && !row.framework.empty(), row.model.c_str());
    }
  }

  void a_row_that_says_all_of_a_recipe_is_nearest() {
    const auto recipe = resolved("llama3-70b",
                                 "data.seq_len = 8192\nparallelism.tp = 8\ntraining.local_batch = "
                                 "16\nrecompute.mode = \"full\"\nprecision.param = \"bf16\"\n"
                                 "precision.float8 = \"tensorwise\"\n",
                                 256);
    const auto rows = published::nearest(table(), recipe, "h100-96gb", 3);
    QCOMPARE(rows.size(), size_t{3});
    QCOMPARE(published::distance(rows[0], recipe, "h100-96gb"), 0.0);
    QCOMPARE(rows[0].tokens_per_second_per_rank, 829.0);
    for (size_t i = 1; i < rows.size(); ++i)
      QVERIFY(published::distance(rows[i - 1], recipe, "h100-96gb") <=
              published::distance(rows[i], recipe, "h100-96gb"));
    const std::string said = published::words(rows[0]);
    QVERIFY2(said.find("829 tokens/s a GPU: Llama3-70B on 256") == 0, said.c_str());
  }

  void no_model_of_another_size_is_near() {
    const auto debug = resolved("llama3-debug", "data.seq_len = 512\n", 2);
    QVERIFY(published::nearest(table(), debug, "h100-sxm", 3).empty());
  }

  void a_plan_far_above_what_is_published_says_so() {
    const auto recipe = resolved("llama3-8b", "data.seq_len = 8192\ntraining.local_batch = 2\n", 8);
    double best = 0;
    for (const published::Row& row : table())
      if (row.model == "Llama3-8B" && row.hardware == "h100-96gb" && row.ranks <= 32 &&
          row.seq_len == 8192 && row.precision == "bf16")
        best = std::max(best, row.tokens_per_second_per_rank);
    QVERIFY(best > 5000);
    QVERIFY(published::far_above(table(), recipe, "h100-96gb", 1.2 * best).empty());
    const std::string said = published::far_above(table(), recipe, "h100-96gb", 1.5 * best);
    QVERIFY2(said.starts_with("the plan promises 50 % more"), said.c_str());
    // Nobody has published it there.
    QVERIFY(published::far_above(table(), recipe, "rtx-4090", 1e9).empty());
  }

  void how_sure_a_prediction_is_follows_from_published_runs_data() {
    QTest::addColumn<QString>("hardware");
    QTest::addColumn<QString>("precision");
    QTest::addColumn<double>("low");
    QTest::addColumn<double>("high");
    QTest::addColumn<bool>("there");
    QTest::newRow("of that kind") << "a"
                                  << "bf16" << 0.8 << 1.25 << true;
    QTest::newRow("in another network") << "a@slow"
                                        << "bf16" << 0.8 << 1.25 << true;
    // All were faster: the prediction is still within.
    QTest::newRow("always off") << "a"
                                << "fp8" << 0.8 / 1.25 << 1.0 << true;
    QTest::newRow("in another precision") << "b"
                                          << "fp8" << 1.0 / 1.5 << 1.5 << true;
    QTest::newRow("elsewhere") << "c"
                               << "fp8" << std::pow(0.64, 1.5) << 1.0 << false;
  }
  void how_sure_a_prediction_is_follows_from_published_runs() {
    QFETCH(QString, hardware);
    QFETCH(QString, precision);
    QFETCH(double, low);
    QFETCH(double, high);
    QFETCH(bool, there);
    const auto table = published::read_accuracy(
                           "program,hardware,precision,rows,off,spread\n"
                           "p,a,bf16,9,0,0.25\np,a,fp8,3,-0.2,0.25\np,b,bf16,7,0,0.5\n")
                           .value();
    const auto expected =
        published::expected_of(table, "p", hardware.toStdString(), precision.toStdString());
    QVERIFY2(std::abs(expected.low - low) < 1e-9, qPrintable(QString::number(expected.low)));
    QVERIFY2(std::abs(expected.high - high) < 1e-9, qPrintable(QString::number(expected.high)));
    QCOMPARE(expected.on_hardware, there);
  }

  void of_an_unknown_program_little_is_known() {
    const auto expected = published::expected_of({}, "p", "a", "bf16");
    QCOMPARE(expected.low, 0.5);
    QCOMPARE(expected.rows, int64_t{0});
  }

  void the_accuracies_that_ship_are_sound() {
    const auto catalogue = hardware::read_catalogue(hardware::built_in());
    const auto all = published::read_accuracy(published::built_in_accuracy());
    QVERIFY2(all, all ? "" : all.error().message.c_str());
    QVERIFY(!all->empty());
    for (const published::Accuracy& each : *all) {
      QVERIFY2(catalogue.find(each.hardware), each.hardware.c_str());
      const bool is_executor = each.program == "compiled" || each.program == "eager";
      QVERIFY2(is_executor || catalogue.find_program(each.program), each.program.c_str());
    }
    QVERIFY(!published::read_accuracy("program,hardware,precision,rows,off,spread\np,a,b,1,0\n"));
  }

  void damage_is_told_data() {
    QTest::addColumn<QString>("table");
    QTest::addColumn<QString>("said");
    const QString sound = "m,8,2,16,h100-sxm,8,64,1,1,1,1,none,bf16,10,f,s\n";
    const QString header = QString::fromStdString(kHeader);
    QTest::newRow("no header") << sound << "line 1: the header is not model,";
    QTest::newRow("no number") << header + sound + QString(sound).replace(",64,", ",x,")
                               << "line 3: column 7: \"x\" is no number above 0";
    QTest::newRow("absurd") << header + QString(sound).replace(",10,", ",-1,")
                            << "line 2: column 14: \"-1\" is no number above 0";
    QTest::newRow("a column more") << header + "m," + sound << "line 2: column 2: \"m\" is no";
    QTest::newRow("a column less")
        << header + QString(sound).replace(",s\n", "\n") << "line 2: 15 columns; needed: 16";
  }
  void damage_is_told() {
    QFETCH(QString, table);
    QFETCH(QString, said);
    const auto rows = published::read_rows(table.toStdString());
    QVERIFY(!rows);
    QVERIFY2(rows.error().message.starts_with(said.toStdString()), rows.error().message.c_str());
  }
};

HEDDLE_TEST(NearestTest)
#include "nearest_test.moc"
