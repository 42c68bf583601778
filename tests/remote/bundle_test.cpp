// A bundle unpacked into a folder of this machine, as the portable archive has it.
#include "remote/bundle.h"

#include <QtTest>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/process.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::remote;

namespace {

const std::string kCat = "/bin/cat";

std::vector<std::string> files_in(const Bundle& bundle) {
  std::vector<std::string> files;
  for (const BundleFile& file : bundle.files)
    files.push_back(fmt::format("{} {} {}", file.path, file.sha256, file.size));
  return files;
}

}  // namespace

class BundleTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;

  std::string unpacked(const char* name) const {
    const std::string to = folder_.filePath(name).toStdString();
    const Result<> done = unpack(must(bundle_of(kCat)), to);
    if (!done) qFatal("%s", done.error().message.c_str());
    return to;
  }

 private Q_SLOTS:
  void initTestCase() { qputenv("XDG_CACHE_HOME", folder_.path().toUtf8()); }

  void it_runs_from_its_own_libraries() {
    const std::string folder = unpacked("runs");
    const auto maps = must(process::run({.argv = {folder + "/heddle-engine", "/proc/self/maps"}}));
    QCOMPARE(maps.exit_code, 0);
    std::istringstream lines(maps.out);
    int mapped = 0;
    for (std::string line; std::getline(lines, line);) {
      const size_t slash = line.find('/');
      if (slash == std::string::npos || line.find("r-xp") == std::string::npos) continue;
      QVERIFY2(line.compare(slash, folder.size(), folder) == 0, line.c_str());
      ++mapped;
    }
    QVERIFY2(mapped >= 3, maps.out.c_str());  // the program, the loader, libc
  }

  void its_wrapper_stands_for_the_same_bundle() {
    const std::string folder = unpacked("same"), wrapper = folder + "/heddle-engine";
    const Bundle made = must(bundle_of(kCat)), found = must(bundle_of(wrapper));
    QCOMPARE(found.id, made.id);
    QCOMPARE(found.wrapper, made.wrapper);
    QVERIFY(files_in(found) == files_in(made));
    for (const BundleFile& file : found.files)
      QVERIFY2(file.from.starts_with(folder + "/"), file.from.c_str());
    QCOMPARE(program_of(wrapper), folder + "/bin/heddle-engine");
    QCOMPARE(program_of(kCat), kCat);
  }

  void a_damaged_file_is_named_data() {
    QTest::addColumn<QString>("file");
    for (const char* file : {"bin/heddle-engine", "lib/libc.so.6", "heddle-engine"})
      QTest::newRow(file) << file;
  }
  void a_damaged_file_is_named() {
    QFETCH(QString, file);
    const QByteArray name = file.section('/', -1).toUtf8() + file.count('/');
    const std::string folder = unpacked(name), damaged = folder + "/" + file.toStdString();
    std::ofstream(damaged, std::ios::app) << "x";
    VERIFY_SAYS(bundle_of(folder + "/heddle-engine"),
                damaged + " is damaged: unpack the archive that it came in again");
  }

  void a_folder_that_cannot_be_written_is_named() {
    const std::string folder = unpacked("twice");
    const Result<> again = unpack(must(bundle_of(kCat)), folder);
    QVERIFY(!again);
    QCOMPARE(again.error().message, folder + "/bin/heddle-engine cannot be written: File exists");
  }
};

HEDDLE_TEST(BundleTest)
#include "bundle_test.moc"
