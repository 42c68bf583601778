// CSV logs of other programs become runs; a table that is no log is refused with what it lacks.
#include <filesystem>
#include <fstream>

#include "storage/export.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/import.h"

using namespace heddle;
using namespace heddle::workbench;

class CsvLogTest : public QObject {
  Q_OBJECT

  std::vector<Imported> imported(RunFixture& fixture, const std::string& name,
                                 const std::string& text) {
    const std::string path = fixture.path(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    const auto writer = must(storage::Writer::open(fixture.store));
    return import_runs(fixture.store, *writer, {path});
  }

 private Q_SLOTS:
  // As Lightning writes it: training and validation in rows of their own, cells left empty.
  void rows_of_a_step_are_one_record() {
    RunFixture fixture;
    const auto done = imported(fixture, "version_0/metrics.csv",
                               "epoch,step,train_loss,val_loss,learning_rate,accuracy\r\n"
                               "0,49,2.62,,3e-4,\r\n0,49,,2.5,,0.25\r\n1,99,2.25,,3e-4,\r\n");
    QCOMPARE(done.size(), size_t(1));
    const storage::CreatedRun run = must(done[0].run);
    QCOMPARE(run.name, std::string("version_0"));
    const storage::RunDetail detail = fixture.detail(run.id);
    QCOMPARE(detail.summary.steps, int64_t(99));
    QCOMPARE(detail.summary.loss.value(), 2.25);
    QCOMPARE(std::get<double>(detail.results.at("last_loss")), 2.25);
    QCOMPARE(detail.series,
             (std::vector<std::string>{"accuracy", "epoch", "loss", "lr", "validation_loss"}));
    storage::Reader reader = must(storage::Reader::open(fixture.store));
    const auto validation = must(reader.samples(run.id, "validation_loss", 0));
    QCOMPARE(validation.size(), size_t(1));
    QCOMPARE(validation[0].step, int64_t(49));
    // The same file again is the same run.
    const auto writer = must(storage::Writer::open(fixture.store));
    const auto again = import_runs(fixture.store, *writer, {fixture.path("version_0/metrics.csv")});
    QVERIFY(again.at(0).was_here);
  }

  void without_steps_rows_count() {
    RunFixture fixture;
    const auto done = imported(fixture, "keras.csv",
                               "\xEF\xBB\xBF"
                               "epoch,loss\n0,3\n1,\"2\"\n2,nan\n");
    const storage::RunDetail detail = fixture.detail(must(done.at(0).run).id);
    QCOMPARE(detail.summary.name, std::string("keras"));
    QCOMPARE(detail.summary.steps, int64_t(3));
    QVERIFY(std::isnan(detail.summary.loss.value()));
  }

  void an_export_comes_back_with_its_ranks() {
    RunFixture fixture;
    const auto done = imported(fixture, "exported/metrics.csv",
                               "step,rank,time,loss\n1,0,100.5,3\n1,1,100.5,3\n2,0,101,2\n");
    const storage::RunDetail detail = fixture.detail(must(done.at(0).run).id);
    QCOMPARE(detail.ranks, (std::vector<int32_t>{0, 1}));
    QCOMPARE(detail.summary.started.value(), 100.5);
    QCOMPARE(detail.summary.finished.value(), 101.0);
  }

  void others_are_refused_with_what_they_lack() {
    RunFixture fixture;
    const auto refused = [&](const char* name, const char* text) {
      const auto done = imported(fixture, name, text);
      return done.at(0).run ? std::string() : done.at(0).run.error().message;
    };
    for (const auto& [name, text, lack] :
         {std::tuple("ber.csv", "snr_db,ber\n-20,0.4\n", "*.csv with a column loss"),
          {"words.csv", "step,loss\nfirst,2\n", "words.csv:2: the step \"first\" is no number"},
          {"negative.csv", "step,loss\n-1,2\n", "negative.csv:2: no step -1; valid: 0 or more"},
          {"empty.csv", "step,loss\n", "empty.csv: it has no row of numbers"}}) {
      const std::string message = refused(name, text);
      QVERIFY2(message.find(lack) != message.npos, message.c_str());
    }
  }
};

HEDDLE_TEST(CsvLogTest)
#include "csv_log_test.moc"
