// CSV logs of other programs become runs; a table that is no log is refused with what it lacks.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "storage/export.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/import.h"

using namespace heddle;
using namespace heddle::workbench;

namespace {

/// A run's step records as text, by step, then rank.
struct RunRows {
  std::string text;
  std::vector<double> times;
  storage::Values results;
};

RunRows rows_of(RunFixture& fixture, const std::vector<Imported>& done) {
  const storage::RunId run = must(done.at(0).run).id;
  storage::Reader reader = must(storage::Reader::open(fixture.store));
  std::vector<storage::StepRow> rows;
  for (int64_t after = 0;;) {
    const auto more = must(reader.steps_after(run, after));
    if (more.empty()) break;
    after = more.back().id;
    rows.insert(rows.end(), more.begin(), more.end());
  }
  std::ranges::stable_sort(rows, {},
                           [](const auto& row) { return std::pair(row.step.step, row.rank); });
  RunRows read{{}, {}, fixture.detail(run).results};
  for (const auto& row : rows) {
    read.text += std::to_string(row.step.step) + ":";
    for (const auto& [name, value] : row.step.values)
      read.text += fmt::format(" {}={}", name, value);
    read.text += "; ";
    read.times.push_back(row.step.time);
  }
  return read;
}

}  // namespace

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

  void odd_tables_are_read_cell_by_cell() {
    for (const auto& [text, rows] :
         {std::pair("step,loss,val_loss\n5,1,\n3,2,\n5,,7\n4,nan,\n",
                    "3: loss=2; 4: loss=nan; 5: loss=1 validation_loss=7; "),
          // Quotes, blanks, words, empty rows.
          {"step,loss,note,acc\r\n\r\n1, 2.5 ,\"a, "
           "\"\"b\"\"\n\",x\r\n2,\"3\",,1e3\r\n\n3,words,\r\n",
           "1: loss=2.5; 2: acc=1000 loss=3; 3:; "},
          {"step,loss\n,1\n3,2\n,4\n", "0: loss=1; 3: loss=4; "},
          {"step,loss,loss\n1,2,3\n2,4,\n", "1: loss=3; 2: loss=4; "},
          {"loss,acc\n1,9,9\n2\n1e999,-inf\n-nan,",
           "1: acc=9 loss=1; 2: loss=2; 3: acc=-inf; 4: loss=nan; "},
          {"step,loss\n1.9,1\n2,\"2\n\"\n 3 ,0x1\n4,+1\n5,1 2\n", "1: loss=1; 2:; 3:; 4:; 5:; "},
          {"rank,loss\n1,2\n0,1\n1,4\n0,3\n", "1: loss=1; 1: loss=2; 2: loss=3; 2: loss=4; "}}) {
      RunFixture fixture;
      const RunRows read = rows_of(fixture, imported(fixture, "odd.csv", text));
      QCOMPARE(read.text, std::string(rows));
    }
  }

  // A short row's last cell is its time; a step has the time of its last row.
  void times_are_of_a_steps_last_row() {
    RunFixture fixture;
    const auto done =
        imported(fixture, "timed.csv", "step,loss,time\n1,2,70\n1,3\n2,4,50\n2,5,60\n");
    const RunRows read = rows_of(fixture, done);
    QCOMPARE(read.text, std::string("1: loss=3; 2: loss=5; "));
    QCOMPARE(read.times, (std::vector<double>{3, 60}));
  }

  void values_that_later_rows_replace_are_counted() {
    RunFixture fixture;
    const auto done =
        imported(fixture, "repeats.csv", "step,loss,lr\n0,3,1\n0,2.5,\n0,2,1\n1,1.5,1\n");
    QCOMPARE(rows_of(fixture, done).text, std::string("0: loss=2 lr=1; 1: loss=1.5 lr=1; "));
    storage::Reader reader = must(storage::Reader::open(fixture.store));
    std::string warnings;
    for (const auto& line : must(reader.last_lines(must(done[0].run).id, 100)))
      if (line.level == telemetry::Level::warning) warnings += line.text + "\n";
    QCOMPARE(warnings, std::string("3 values are left out: later rows have others for the same "
                                   "step\n"));
  }

  void the_order_of_rows_does_not_matter() {
    constexpr int kSteps = 2500, kMetrics = 150;  // several parts
    std::vector<std::string> lines;
    std::string header = "step,loss";
    for (int i = 1; i < kMetrics; ++i) header += ",m" + std::to_string(i);
    for (int step = 1; step <= kSteps; ++step) {
      std::string line = std::to_string(step);
      for (int i = 0; i < kMetrics; ++i)
        line += i > 0 && (step + i) % 11 == 0 ? "," : fmt::format(",{}", step * 0.25 + i);
      lines.push_back(line + "\n");
    }
    RunFixture fixture;
    const auto text = [&] {
      std::string all = header + "\n";
      for (const std::string& line : lines) all += line;
      return all;
    };
    const RunRows forwards = rows_of(fixture, imported(fixture, "forwards.csv", text()));
    std::ranges::reverse(lines);
    const RunRows back = rows_of(fixture, imported(fixture, "back.csv", text()));
    QCOMPARE(size_t(std::ranges::count(forwards.text, ';')), size_t(kSteps));
    QVERIFY(forwards.text == back.text);
    QVERIFY(forwards.results == back.results);
    QVERIFY(forwards.text.find("2500: loss=625 m1=626 m10=635 m100=725 ") != std::string::npos);
  }

  void several_runs_are_imported_in_one_go() {
    RunFixture fixture;
    std::vector<std::string> paths;
    for (const char* name : {"a", "b", "bad", "c"}) {
      paths.push_back(fixture.path(std::string(name) + ".csv"));
      std::ofstream(paths.back()) << "step,loss\n1," << name[0] - 'a'
                                  << (std::string(name) == "bad" ? "\nx,1\n" : "\n2,5\n");
    }
    std::filesystem::copy_file(paths[0], fixture.path("copy.csv"));
    std::filesystem::last_write_time(fixture.path("copy.csv"),
                                     std::filesystem::last_write_time(paths[0]));
    paths.insert(paths.begin() + 1, fixture.path("copy.csv"));
    const auto writer = must(storage::Writer::open(fixture.store));
    std::vector<size_t> progress;
    const auto done = import_runs(fixture.store, *writer, paths, [&](const ImportProgress& at) {
      if (at.total == 5 && (progress.empty() || progress.back() != at.done))
        progress.push_back(at.done);
      return true;
    });
    QCOMPARE(done.size(), size_t{5});
    QCOMPARE(progress, (std::vector<size_t>{0, 1, 2, 3, 4}));
    for (size_t i = 0; i < done.size(); ++i) {
      QCOMPARE(done[i].path, paths[i]);
      QCOMPARE(done[i].was_here, i == 1);
      QCOMPARE(done[i].run.has_value(), i != 3);
    }
    QCOMPARE(must(done[1].run).id, must(done[0].run).id);
    QCOMPARE(fixture.detail(must(done[4].run).id).summary.loss.value(), 5.0);
    QCOMPARE(must(must(storage::Reader::open(fixture.store)).runs()).size(), size_t{3});
  }

  void others_are_refused_with_what_they_lack() {
    RunFixture fixture;
    const auto refused = [&](const char* name, const char* text) {
      const auto done = imported(fixture, name, text);
      return done.at(0).run ? std::string() : done.at(0).run.error().message;
    };
    for (const auto& [name, text, lack] :
         {std::tuple("ber.csv", "snr_db,ber\n-20,0.4\n", "*.csv with a column loss"),
          {"words.csv", "step,loss\nfirst,2\n", "words.csv:2: the step \"first\" is not a number"},
          {"later.csv", "step,loss,a\n1,2,\"\n\"\n\n\"x\"\"\",2\n",
           "later.csv:4: the step \"x\"\" is not a number"},
          {"rank.csv", "rank,loss\n-1,2\n", "rank.csv:2: no rank -1; valid: 0 to 999999"},
          {"second.csv", "rank,loss\n1,2\n", "second.csv: no row has numbers"},
          {"negative.csv", "step,loss\n-1,2\n", "negative.csv:2: no step -1; valid: 0 or more"},
          {"empty.csv", "step,loss\n", "empty.csv: no row has numbers"}}) {
      const std::string message = refused(name, text);
      QVERIFY2(message.find(lack) != message.npos, message.c_str());
    }
  }
};

HEDDLE_TEST(CsvLogTest)
#include "csv_log_test.moc"
