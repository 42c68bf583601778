// A run's newest checkpoint as a Hugging Face folder, from the checkpoint of
// tests/fixtures/exported.
#include "workbench/weights.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>

#include "tests/support/test_class.h"
#include "workbench/place.h"

using namespace heddle;
namespace fs = std::filesystem;

namespace {

const std::string kFixture = std::string(HEDDLE_SOURCE_DIR) + "/tests/fixtures/exported/";

QByteArray bytes_of(const std::string& path) {
  QFile file(QString::fromStdString(path));
  return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class WeightsTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  std::string path(const char* name) { return folder_.filePath(name).toStdString(); }

  // A run of a host; an empty address is this machine.
  storage::RunDetail run_on(const std::string& address) {
    storage::RunDetail run;
    run.summary.name = "tiny-1";
    run.recipe = "[checkpoint]\nfolder = \"" + path("checkpoints") + "\"\n";
    remote::Target target;
    target.name = "target";
    target.hosts.resize(1);
    target.hosts[0].name = "node";
    target.hosts[0].address = address;
    run.hosts = workbench::to_json(workbench::place_on(target));
    return run;
  }

  static void says(const Result<workbench::ExportedWeights>& result, const char* text) {
    QVERIFY(!result);
    QVERIFY2(result.error().message.find(text) != std::string::npos,
             result.error().message.c_str());
  }

 private Q_SLOTS:
  void the_newest_checkpoint() {
    says(workbench::export_weights(run_on(""), path("")), "there is no checkpoint");
    fs::create_directories(path("checkpoints/step-2.partial"));
    fs::copy(kFixture + "step-3", path("checkpoints/step-3"));
    const auto to = workbench::export_weights(run_on(""), path(""));
    QVERIFY2(to.has_value(), to ? "" : to.error().message.c_str());
    QCOMPARE(fs::path(to->folder).filename().string(), std::string("tiny-1-step-3"));
    for (const char* name : {"/model.safetensors", "/config.json"})
      QVERIFY2(bytes_of(to->folder + name) == bytes_of(kFixture + "hugging-face" + name), name);
    // The folder that it was trained from is another machine's.
    QCOMPARE(to->notes.size(), size_t(1));
    QVERIFY(to->notes[0].starts_with("/tmp/heddle-example/reference/llama-tiny is not here: "));
    says(workbench::export_weights(run_on(""), path("")), "tiny-1-step-3");
  }

  void what_has_none() {
    says(workbench::export_weights(run_on("10.0.0.1"), path("")), "its checkpoints are on node");
    storage::RunDetail run = run_on("");
    run.recipe = "[checkpoint]\nenabled = false\n";
    says(workbench::export_weights(run, path("")), "keeps no checkpoints");
  }
};

HEDDLE_TEST(WeightsTest)
#include "weights_test.moc"
