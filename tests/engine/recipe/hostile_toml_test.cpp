// Texts that once broke the reader of TOML: refused with line and column.
#include <QDir>
#include <QTest>

#include "engine/hardware/catalogue.h"
#include "engine/recipe/parse.h"
#include "tests/support/test_class.h"

using namespace heddle;

namespace {

std::string contents(const QString& path) {
  QFile file(path);
  return file.open(QFile::ReadOnly) ? file.readAll().toStdString() : std::string();
}

std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

/// The first fault of a text that has one at a place.
std::string fault_of(const std::string& text) {
  const recipe::Parsed parsed = recipe::parse(text, "a.toml");
  if (parsed.faults.empty()) return "accepted";
  return parsed.faults.front().str();
}

}  // namespace

class HostileTomlTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void what_broke_it_is_refused_at_its_place_data() {
    QTest::addColumn<QString>("path");
    const QDir folder(HEDDLE_SOURCE_DIR "/tests/fixtures/crash");
    const QStringList names = folder.entryList({"recipe*"});
    QCOMPARE(names.size(), 19);
    for (const QString& name : names) QTest::newRow(qPrintable(name)) << folder.filePath(name);
  }
  void what_broke_it_is_refused_at_its_place() {
    QFETCH(QString, path);
    const std::string text = contents(path);
    QVERIFY(!text.empty());
    const recipe::Parsed parsed = recipe::parse(text, "a.toml");
    QCOMPARE(parsed.faults.size(), size_t{1});
    QVERIFY(parsed.faults[0].line >= 1);
    QVERIFY(parsed.faults[0].column >= 1);
    const hardware::Catalogue catalogue = hardware::read_catalogue({{"a.toml", text}});
    QVERIFY(!catalogue.faults.empty());
    QVERIFY(!recipe::with_key(text, "training.steps", "1"));
    QVERIFY(!recipe::parse("", "a.toml", {"training.steps=[" + text}).ok());
  }

  // In release builds the compiler made of "cannot be reached" whatever it liked.
  void a_letter_outside_of_strings_is_no_blank() {
    QCOMPARE(fault_of("\xc2\xa3"),
             std::string("a.toml:1:1: Error while parsing root table: expected keys, tables, "
                         "whitespace or comments, saw '\xc2\xa3'"));
  }

  void depth_and_length_have_ends() {
    const std::string tables = "[training]\nsteps = 1\n";
    QCOMPARE(fault_of(tables + "a" + repeated(".a", 100'000) + " = 1\n"),
             std::string("a.toml:3:64: a key of more than 32 parts"));
    QCOMPARE(fault_of("x = { " + repeated("\"#\\\".\" . ", 40) + "a = 1 }"),
             std::string("a.toml:1:293: a key of more than 32 parts"));
    QVERIFY(fault_of("a = " + std::string(100'000, '[')).find("depth of 32") != std::string::npos);
    QCOMPARE(fault_of("# " + std::string(recipe::kMaxRecipeBytes, 'x')),
             std::string("a.toml:1:1: 1048578 bytes; at most 1048576 are read"));
  }

  void dots_that_join_no_key_count_for_nothing() {
    const std::string dots(100, '.');
    for (const std::string& text :
         {"# " + dots, "[training] # " + dots, "[checkpoint]\nfolder = \"" + dots + "\"",
          "[checkpoint]\nfolder = '''\n" + dots + "''''",
          "[checkpoint]\nfolder = \"\"\"\\\"\"\"\" # " + dots,
          "[optimizer]\nbetas = [" + repeated("0.9, ", 50) + "]"})
      QVERIFY2(fault_of(text).find("parts") == std::string::npos, text.c_str());
  }
};

HEDDLE_TEST(HostileTomlTest)
#include "hostile_toml_test.moc"
