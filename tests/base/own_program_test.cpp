// The program's own file, started by itself and by a loader.
#include "base/own_program.h"

#include <QtTest>

#include "base/process.h"
#include "tests/support/results.h"
#include "tests/support/test_class.h"

using namespace heddle;

class OwnProgramTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Runs itself by the loader; what that one prints is checked here.
  void a_loader_is_not_the_program() {
    if (started_by_loader()) {
      qInfo("by a loader: %s", own_program().c_str());
      return;
    }
    const std::string file = QCoreApplication::applicationFilePath().toStdString();
    QCOMPARE(own_program(), file);
    const auto loaded = must(process::run(
        {.argv = {"/lib64/ld-linux-x86-64.so.2", file, "own_program_test", __func__}}));
    const std::string said = loaded.out + loaded.err;
    QCOMPARE(loaded.exit_code, 0);
    QVERIFY2(said.find("by a loader: " + file + "\n") != std::string::npos, said.c_str());
  }
};

HEDDLE_TEST(OwnProgramTest)
#include "own_program_test.moc"
