// The published rows: the table is sound, damage is told, and what is nearest is what is alike.
#include "engine/published/nearest.h"

#include <QTest>
#include <set>

#include "engine/hardware/catalogue.h"
#include "engine/recipe/parse.h"

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

QTEST_GUILESS_MAIN(NearestTest)
#include "nearest_test.moc"
