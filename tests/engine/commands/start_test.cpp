// Commands without LibTorch start and end without it: here it cannot be loaded.
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/engine_process.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

namespace {

const QString kRecipes = HEDDLE_SOURCE_DIR "/resources/recipes/";

}  // namespace

class StartTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;
  QProcessEnvironment environment_ = QProcessEnvironment::systemEnvironment();

  EngineResult run(const QStringList& arguments, const QByteArray& input = {}) {
    return run_engine(arguments, input, environment_);
  }

 private Q_SLOTS:
  void initTestCase() {
    QVERIFY(heddle::test::write_bytes(folder_.filePath("libheddle_torch.so"), "no library"));
    environment_.insert("LD_LIBRARY_PATH", folder_.path());
  }

  void help_needs_none() {
    QCOMPARE(run({"--help"}).exit_code, 0);
    for (const char* command : {"train", "plan", "search", "graph", "calibrate"})
      QCOMPARE(run({command, "--help"}).exit_code, 0);
  }

  void a_tokenizer_needs_none() {
    const QString tokenizer = HEDDLE_SOURCE_DIR "/tests/fixtures/tokenizers/byte_fallback.json";
    const EngineResult ids = run({"tokenize", "--tokenizer", tokenizer}, "a text");
    QVERIFY2(ids.exit_code == 0, ids.err);
    const EngineResult text = run({"tokenize", "--tokenizer", tokenizer, "--decode"}, ids.out);
    QVERIFY2(text.exit_code == 0, text.err);
  }

  void the_probe_needs_none() { QCOMPARE(run({"probe", "--json"}).exit_code, 0); }

  void a_faulty_recipe_needs_none() {
    for (const QStringList& command :
         {QStringList{"train"}, QStringList{"eval", "--to", folder_.filePath("file")},
          QStringList{"plan"}, QStringList{"search"}, QStringList{"graph"},
          QStringList{"tokenize-corpus"}, QStringList{"describe-data"}}) {
      const EngineResult refused =
          run(command + QStringList{kRecipes + "debug.toml", "--set", "training.local_batch=none"});
      QCOMPARE(refused.exit_code, 2);
      QVERIFY2(refused.err.contains("training.local_batch"), refused.err);
    }
  }

  void others_name_the_library() {
    for (const char* command : {"plan", "search", "graph"}) {
      const EngineResult failed = run({command, kRecipes + "debug.toml"});
      QCOMPARE(failed.exit_code, 1);
      QVERIFY2(failed.err.startsWith("heddle-engine: libheddle_torch.so does not load"),
               failed.err);
    }
  }
};

HEDDLE_TEST(StartTest)
#include "start_test.moc"
