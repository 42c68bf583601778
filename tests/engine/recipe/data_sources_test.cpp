// The names of the sources of a run's data, and their shares.
#include "engine/recipe/data_sources.h"

#include <QtTest>

#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

namespace recipe = heddle::recipe;

class DataSourcesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void names_data() {
    QTest::addColumn<QString>("data");
    QTest::addColumn<QString>("names");
    QTest::newRow("none") << ""
                          << "";
    QTest::newRow("a file") << "text = ['a/b/corpus.txt']"
                            << "corpus.txt";
    QTest::newRow("a folder") << "text = ['/data/web/']"
                              << "web/";
    QTest::newRow("several") << "text = ['a.txt', 'b/', 'c.txt']"
                             << "a.txt and 2 more";
    QTest::newRow("tokens") << "token_ids = 'a/ids.npy'"
                            << "ids.npy";
    QTest::newRow("a mix") << "mix = [{ text = ['a/web/'] }, { text = ['a/code/', 'b/'] }]"
                           << "web/|code/ and 1 more";
    QTest::newRow("told apart") << "mix = [{ text = ['a/en/x.txt'] }, { text = ['a/de/x.txt'] }, "
                                   "{ text = ['a/y.txt'] }]"
                                << "en/x.txt|de/x.txt|y.txt";
    QTest::newRow("the same twice") << "mix = [{ text = ['x.txt'] }, { text = ['x.txt'] }]"
                                    << "x.txt (1)|x.txt (2)";
  }

  void names() {
    QFETCH(QString, data);
    QFETCH(QString, names);
    QStringList found;
    const auto parsed = recipe::parse("[data]\n" + data.toStdString(), "recipe.toml");
    for (const recipe::DataSource& source : recipe::sources_of(parsed.recipe.data))
      found << QString::fromStdString(source.name);
    QCOMPARE(found.join('|'), names);
  }

  void shares_are_of_all_weights() {
    recipe::Data data;
    data.mix = {{{"a.txt"}, 3}, {{"b.txt"}, 1}};
    const auto sources = recipe::sources_of(data);
    QCOMPARE(sources[0].share, 0.75);
    QCOMPARE(sources[1].share, 0.25);
  }
};

HEDDLE_TEST(DataSourcesTest)
#include "data_sources_test.moc"
