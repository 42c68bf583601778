// packaging/gpu-check.sh from its beginning to its end on GPUs that are not there. Their kernels
// compute nothing, so what compares numbers must fail, and by its numbers alone.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTest>

#include "fake_gpus.h"
#include "tests/support/test_class.h"

class FakeCheckTest : public QObject {
  Q_OBJECT

 private:
  struct Checked {
    int exit_code;
    QString said;
    QJsonObject parts;  // gpu-check.json
    QString page;       // gpu-check.txt
  };

  // A Python whose torch has libraries and no more.
  static void make_torch(const QString& folder) {
    QVERIFY(QDir().mkpath(folder + "/torch"));
    QFile module(folder + "/torch/__init__.py");
    QVERIFY(module.open(QFile::WriteOnly));
    module.write("__version__ = \"2.11.0\"\n");
    QVERIFY(QFile::link(HEDDLE_LIBTORCH "/lib", folder + "/torch/lib"));
  }

  static QByteArray content(const QString& path) {
    QFile file(path);
    return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
  }

  static Checked check(const FakeGpus& gpus, const QStringList& arguments) {
    if (!QDir(gpus.path("python")).exists()) make_torch(gpus.path("python"));
    QProcessEnvironment environment = gpus.environment();
    environment.insert("PYTHONPATH", gpus.path("python"));
    environment.insert("PATH", fake_cuda_folder() + ":" + environment.value("PATH"));
    QProcess process;
    process.setProcessEnvironment(environment);
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(HEDDLE_SOURCE_DIR "/packaging/gpu-check.sh",
                  QStringList{"--build", HEDDLE_BINARY_DIR, "--to", gpus.path("to")} + arguments);
    process.waitForFinished(-1);
    return {process.exitCode(), process.readAll(),
            QJsonDocument::fromJson(content(gpus.path("to/gpu-check.json"))).object(),
            content(gpus.path("to/gpu-check.txt"))};
  }

 private Q_SLOTS:
  void every_part_comes_to_its_result() {
    const FakeGpus gpus({}, {"FAKE_CUDA_DEVICES=1"});
    const Checked checked = check(gpus, {"--tiny"});
    QCOMPARE(checked.exit_code, 1);
    const QMap<QString, QString> words{
        {"machine", "^NVIDIA A100-SXM4-80GB, 580"},
        {"kernels", "^\\d+ of \\d\\d hold; not: rms_norm Float"},
        {"events", "^\\d of 4 hold"},
        {"parity", "^furthest from Hugging Face's losses: \\d"},
        {"steps",
         "^eager \\S+ s, planned \\S+ s, recorded \\S+ s; losses within 0; peak 0.*; held at the "
         "end: heddle 0"},
        {"shared", "^losses within 0 of one rank's"},
        {"against-cpu", "^six steps in bf16: losses within 1 of the CPU's"},
        {"gradients", "has no attribute 'float32'$"},
        {"attention", "^\\d+ of 25 hold; not: attention BFloat16 part of 4 ranks"},
        {"calibration",
         "^1275 of 1410 MHz, 391.20 of 400.00 W, 61 °C; by measured-\\S+ a step above is planned "
         "to "
         "take \\S+ s; cannot be: .*bf16_best_tflops: "},
        {"benchmark-1b", "^tiny: MFU "},
        {"benchmark-8b", "^tiny: MFU "}};
    QCOMPARE(checked.parts.keys(), words.keys());
    for (auto [part, pattern] : words.asKeyValueRange()) {
      const QJsonObject result = checked.parts[part].toObject();
      QVERIFY2(result["words"].toString().contains(QRegularExpression(pattern)),
               qPrintable(part + ": " + result["words"].toString()));
      QVERIFY2(checked.page.contains(result["words"].toString()), qPrintable(checked.page));
      QVERIFY(content(gpus.path("to/gpu-check.log")).contains("\n== " + part.toUtf8() + "\n$ "));
    }
    // Few enough to bring back from anywhere.
    QCOMPARE(QDir(gpus.path("to")).entryList(QDir::AllEntries | QDir::NoDotAndDotDot),
             (QStringList{"gpu-check.json", "gpu-check.log", "gpu-check.txt"}));
    for (const char* part : {"machine", "steps", "shared"})
      QVERIFY(checked.parts[part]["ok"].toBool());
    QCOMPARE(gpus.left(), QStringList());
  }

  // The output until then is kept, and the next part has its turn; once done, none has
  // another.
  void a_part_that_hangs_ends_at_its_limit() {
    const FakeGpus gpus({}, {"FAKE_CUDA_FAULTS=0 cudaGraphLaunch 1 hangs"});
    const Checked checked = check(gpus, {"--only", "events,machine"});
    QCOMPARE(checked.exit_code, 1);
    QVERIFY2(checked.parts["events"]["words"].toString().startsWith("gpu_check took longer than"),
             qPrintable(checked.said));
    QVERIFY(checked.parts["events"]["found"].toArray().size() > 1);
    QVERIFY(checked.parts["machine"]["ok"].toBool());
    QVERIFY2(checked.page.contains("FAILED  events") && checked.page.contains("not yet kernels"),
             qPrintable(checked.page));
    QCOMPARE(gpus.left(), QStringList());
    QCOMPARE(check(gpus, {"--only", "events,machine"}).said, QString());
  }
};

HEDDLE_TEST(FakeCheckTest)
#include "fake_check_test.moc"
