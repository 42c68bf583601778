// Every recipe in errors/ is refused with exactly the lines it carries in its last comment.
#include <QDir>
#include <QTest>
#include <fstream>
#include <sstream>

#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle::recipe;

namespace {

struct Fixture {
  std::string text;
  std::vector<std::string> sets;
  int64_t ranks = 0;
  QStringList says;
  QStringList train_says;
};

Fixture read_errors(const QString& path) {
  Fixture fixture;
  std::ifstream stream(path.toStdString());
  std::stringstream text;
  text << stream.rdbuf();
  fixture.text = text.str();
  QStringList* expected = nullptr;
  for (const QString& line : QString::fromStdString(fixture.text).split('\n')) {
    if (line.startsWith("# --set ")) fixture.sets.push_back(line.mid(8).toStdString());
    if (line.startsWith("# --ranks ")) fixture.ranks = line.mid(10).toLongLong();
    if (line == "# says:") {
      expected = &fixture.says;
    } else if (line == "# train says:") {
      expected = &fixture.train_says;
    } else if (expected != nullptr && line.startsWith("# ")) {
      expected->append(line.mid(2));
    }
  }
  return fixture;
}

QStringList lines(const std::vector<Fault>& faults) {
  QStringList result;
  for (const Fault& fault : faults) result.append(QString::fromStdString(fault.str()));
  return result;
}

}  // namespace

class RecipeErrorsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void says_data() {
    QTest::addColumn<QString>("path");
    const QDir folder(HEDDLE_SOURCE_DIR "/tests/engine/recipe/errors");
    for (const QString& name : folder.entryList({"*.toml"})) {
      QTest::newRow(qPrintable(name)) << folder.filePath(name);
    }
  }

  void says() {
    QFETCH(QString, path);
    const Fixture fixture = read_errors(path);
    QVERIFY2(!fixture.says.isEmpty() || !fixture.train_says.isEmpty(), "nothing is expected");
    const std::string name = QFileInfo(path).fileName().toStdString();
    const Parsed resolved = resolve(parse(fixture.text, name, fixture.sets), fixture.ranks);
    QCOMPARE(lines(resolved.faults).join('\n'), fixture.says.join('\n'));
    QCOMPARE(resolved.ok(), fixture.says.isEmpty());
    QCOMPARE(lines(unsupported(resolved)).join('\n'), fixture.train_says.join('\n'));
  }

  void a_file_that_is_not_there() {
    const Parsed parsed = parse_file("no/such/recipe.toml");
    QCOMPARE(lines(parsed.faults),
             QStringList("no/such/recipe.toml: cannot be read: No such file or directory; valid: a "
                         "recipe (.toml)"));
    QVERIFY(!parse_file(HEDDLE_SOURCE_DIR).ok());
    QCOMPARE(lines(parse_named_file("no/such/recipe.toml").faults), lines(parsed.faults));
    QCOMPARE(lines(parse_named_file("/dev/null").faults), lines(parse("", "/dev/null").faults));
  }

  void text_of_any_bytes_is_refused_not_crashed_on() {
    const std::string debug = [] {
      std::ifstream stream(HEDDLE_SOURCE_DIR "/resources/recipes/llama3-405b-512xh100.toml");
      std::stringstream text;
      text << stream.rdbuf();
      return text.str();
    }();
    QVERIFY(parse(debug, "whole").ok());
    uint32_t random = 1;
    int refused = 0;
    for (int round = 0; round < 2000; ++round) {
      std::string text = debug;
      for (int change = 0; change < 3; ++change) {
        random = random * 1664525u + 1013904223u;
        text[(random >> 8) % text.size()] = static_cast<char>(random >> 24);
      }
      refused += resolve(parse(text, "changed")).ok() ? 0 : 1;
    }
    QVERIFY(refused > 100);
  }
};

HEDDLE_TEST(RecipeErrorsTest)
#include "recipe_errors_test.moc"
