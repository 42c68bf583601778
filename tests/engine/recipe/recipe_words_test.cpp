// The words of the keys: none is missing, and docs/recipe.md says what the schema says.
#include <QFile>
#include <QSet>
#include <QTest>

#include "engine/recipe/parse.h"
#include "reference.h"
#include "tests/support/test_class.h"

using namespace heddle::recipe;

class RecipeWordsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_reference_is_written_from_the_schema() {
    QFile file(HEDDLE_SOURCE_DIR "/docs/recipe.md");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString written = QString::fromUtf8(file.readAll());
    const QStringList has = written.split('\n');
    const QStringList wanted = QString::fromStdString(reference()).split('\n');
    for (qsizetype i = 0; i < std::min(has.size(), wanted.size()); ++i) QCOMPARE(has[i], wanted[i]);
    QCOMPARE(has.size(), wanted.size());
  }

  void every_key_has_words() {
    QSet<QString> labels;
    for (const KeyInfo& info : keys()) {
      const QString of = QString::fromStdString(info.group + "/" + info.label);
      QVERIFY2(!info.label.empty() && info.label.size() <= 20, info.key.c_str());
      QVERIFY2(info.help.size() > 10 && info.help.back() == '.', info.key.c_str());
      QVERIFY2(std::ranges::find(groups(), info.group) != groups().end(), info.key.c_str());
      QVERIFY2(!labels.contains(of), qPrintable(of));
      QVERIFY2(info.names.empty() || info.names.size() == info.choices.size(), info.key.c_str());
      labels << of;
    }
  }

  void what_only_a_plan_can_do_is_refused_by_train_data() {
    QTest::addColumn<QString>("lines");
    QTest::addColumn<QString>("refusal");
    QTest::newRow("async tp") << "[parallelism]\nasync_tp = true\n"
                              << "r:4:12: parallelism.async_tp: this version does not train with "
                                 "async_tp: only plans of other programs know it; valid: false";
  }

  void what_only_a_plan_can_do_is_refused_by_train() {
    QFETCH(QString, lines);
    const Parsed resolved = resolve(
        parse("model.preset = \"llama3-8b\"\ndata.token_ids = \"a\"\n" + lines.toStdString(), "r"));
    QVERIFY(resolved.ok());
    const std::vector<Fault> faults = unsupported(resolved);
    QCOMPARE(faults.size(), size_t{1});
    QTEST(QString::fromStdString(faults[0].str()), "refusal");
  }
};

HEDDLE_TEST(RecipeWordsTest)
#include "recipe_words_test.moc"
