// What Hugging Face's transformers made of a checkpoint that Heddle exported: the export is still
// that file, byte for byte, and Heddle's logits are transformers' (see
// tests/fixtures/exported/README.md).
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "engine_process.h"
#include "numbers.h"

namespace {

const QString kFixture = QString(HEDDLE_SOURCE_DIR) + "/tests/fixtures/exported/";

QByteArray bytes_of(const QString& path) {
  QFile file(path);
  return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class TransformersTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

 private Q_SLOTS:
  void the_export_is_what_transformers_loaded() {
    const QString to = folder_.filePath("export");
    const auto run = run_engine({"convert", kFixture + "step-3", to});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    for (const char* name : {"/model.safetensors", "/config.json"}) {
      const QByteArray expected = bytes_of(kFixture + "hugging-face" + name);
      QVERIFY(!expected.isEmpty());
      QVERIFY2(bytes_of(to + name) == expected, name);
    }
  }

  void logits_are_those_of_transformers_data() {
    QTest::addColumn<QString>("checkpoint");
    QTest::newRow("our checkpoint") << "step-3";
    QTest::newRow("its export") << "hugging-face";
  }
  void logits_are_those_of_transformers() {
    QFETCH(QString, checkpoint);
    const QString to = folder_.filePath("eval.safetensors");
    const auto run = run_engine({"eval", kFixture + "recipe.toml", "--to", to, "--set",
                                 "model.checkpoint=\"" + kFixture + checkpoint + '"', "--set",
                                 "parallelism.microbatches=1"});
    QVERIFY2(run.exit_code == 0, run.err.constData());
    const auto theirs = numbers(open(kFixture + "logits.safetensors"), "logits");
    QVERIFY(largest(theirs) > 0.1);
    QVERIFY(largest_difference(numbers(open(to), "logits"), theirs) <= 1e-4);
  }
};

QTEST_GUILESS_MAIN(TransformersTest)
#include "transformers_test.moc"
