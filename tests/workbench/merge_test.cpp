// Another store's runs, and a run as one file: taken in whole, once.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "storage/trust.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/test_class.h"
#include "workbench/import.h"
#include "workbench/run_file.h"

using namespace heddle;
using namespace heddle::workbench;

namespace {

/// An ended run with two ranks and two attempts, of which a person and the workbench knew more.
storage::RunId make_whole_run(storage::StoreFixture& store, const std::string& name) {
  storage::Writer& writer = *store.writer;
  storage::NewRun made = storage::named(name);
  made.recipe = "[model]\npreset = \"llama3-debug\"\n";
  made.recipe_name = "debug";
  made.created = 1e9;
  made.group = "seeds";
  const storage::RunId run = must(writer.create_run(made)).id;
  for (const int rank : {0, 1}) {
    const std::string unique = name + std::to_string(rank);  // no two runs begin alike
    std::vector<telemetry::Record> records = storage::whole_run(700, rank);
    std::get<telemetry::Start>(records[0]).environment["name"] = unique;
    store.feed(run, storage::log_of(records), rank);
    must(writer.end_log(run, rank, 0));
  }
  std::vector<telemetry::Record> again;
  again.emplace_back(telemetry::Start{1.1e9, 0, 1, "planned", {}, {}});
  for (int64_t step = 501; step <= 900; ++step) again.emplace_back(storage::step_record(step));
  store.feed(run, storage::log_of(again), 0, 1);
  must(writer.set_results(run, {{"by hand", 7.0}}));
  must(writer.change_tags(run, {"fp8"}));
  must(writer.set_notes(run, "two\nlines"));
  must(writer.set_color(run, "#56b4e9"));
  must(writer.set_starred(run, true));
  must(writer.add_line(run, {.time = 1.2e9, .text = "said by the workbench"}));
  must(writer.set_state(run, storage::RunState::failed, "out of memory", 1.3e9));
  return run;
}

QStringList texts_of(const std::vector<storage::LogLine>& lines) {
  QStringList texts;
  for (const storage::LogLine& line : lines)
    texts += QString("%1 %2").arg(line.time).arg(QString::fromStdString(line.text));
  texts.sort();
  return texts;
}

std::vector<Imported> import_into(storage::StoreFixture& store, const std::string& path) {
  return import_runs(store.path, *store.writer, {path});
}

}  // namespace

class MergeTest : public QObject {
  Q_OBJECT

  static void verify_same_run(storage::Reader& a, storage::RunId left, storage::Reader& b,
                              storage::RunId right) {
    const auto one = must(a.run(left)), other = must(b.run(right));
    QCOMPARE(other.recipe, one.recipe);
    QVERIFY(other.environment == one.environment);
    QVERIFY(other.results == one.results);
    QCOMPARE(other.series, one.series);
    const storage::RunSummary &was = one.summary, &is = other.summary;
    QVERIFY(is.state == was.state && is.cause == was.cause && is.tags == was.tags);
    QVERIFY(is.notes == was.notes && is.color == was.color && is.group == was.group);
    QVERIFY(is.starred.has_value() == was.starred.has_value());
    QCOMPARE(is.created, was.created);
    QCOMPARE(is.started, was.started);
    QCOMPARE(is.finished, was.finished);
    QCOMPARE(is.recipe_name, was.recipe_name);
    QVERIFY(is.loss == was.loss && is.sparkline == was.sparkline && is.steps == was.steps);
    const auto before = must(a.digests(left)), after = must(b.digests(right));
    QCOMPARE(after.size(), before.size());
    for (size_t i = 0; i < before.size(); ++i) QVERIFY(storage::same(after[i], before[i]));
    for (const int rank : {0, 1}) {
      const auto samples = must(a.samples(left, "loss", rank));
      const auto copied = must(b.samples(right, "loss", rank));
      QCOMPARE(copied.size(), samples.size());
      for (size_t i = 0; i < samples.size(); ++i)
        QVERIFY(copied[i].step == samples[i].step && copied[i].value == samples[i].value);
    }
    QCOMPARE(must(b.profiled_steps(right)), must(a.profiled_steps(left)));
    QCOMPARE(texts_of(must(b.lines_after(right, 0))), texts_of(must(a.lines_after(left, 0))));
  }

 private Q_SLOTS:
  void another_store_s_runs_are_taken_in_whole_and_once() {
    storage::StoreFixture theirs, ours;
    const storage::RunId first = make_whole_run(theirs, "first"),
                         second = make_whole_run(theirs, "second");
    make_whole_run(ours, "here");
    must(ours.writer->rename(1, "second"));
    const auto imported = import_into(ours, theirs.path);
    QCOMPARE(imported.size(), size_t{2});
    for (const Imported& one : imported) {
      VERIFY_RESULT(one.run);
      QVERIFY(!one.was_here);
    }
    QCOMPARE(must(ours.reader.find_run("first")).name, std::string("first"));
    verify_same_run(theirs.reader, first, ours.reader, must(ours.reader.find_run("first")).id);
    verify_same_run(theirs.reader, second, ours.reader, must(ours.reader.find_run("second-2")).id);
    for (const Imported& one : import_into(ours, theirs.path)) {
      VERIFY_RESULT(one.run);
      QVERIFY(one.was_here);
    }
    QCOMPARE(must(ours.reader.runs()).size(), size_t{3});
  }

  void a_stranger_s_store_names_no_host_and_no_folder_of_ours() {
    storage::StoreFixture theirs, ours;
    const storage::RunId run = make_whole_run(theirs, "first");
    must(theirs.writer->set_place(run, "[{\"host\":\"evil\"}]", "/home/somebody/thesis"));
    theirs.writer.reset();
    QTemporaryDir elsewhere;
    const std::string copy = elsewhere.filePath("copy.sqlite").toStdString();
    std::filesystem::copy_file(theirs.path, copy);
    std::filesystem::copy_file(theirs.path + "-wal", copy + "-wal");
    QVERIFY(!storage::is_trusted(copy));
    VERIFY_RESULT(import_into(ours, copy).at(0).run);
    QVERIFY(!storage::is_trusted(copy));
    const auto detail = must(ours.reader.run(1));
    QVERIFY(detail.hosts.find("evil") == std::string::npos);
    QCOMPARE(detail.run_dir, copy + "#1");
    QCOMPARE(detail.summary.target, std::string(kImported));
  }

  void a_run_that_goes_on_is_left_to_its_store() {
    storage::StoreFixture theirs, ours;
    make_whole_run(theirs, "ended");
    theirs.feed(theirs.create("going on"),
                storage::log_of({telemetry::Start{1e9, 0, 1, "", {}, {}}}));
    const auto imported = import_into(ours, theirs.path);
    QCOMPARE(imported.size(), size_t{2});
    QCOMPARE(must(ours.reader.runs()).size(), size_t{1});
    int refused = 0;
    for (const Imported& one : imported)
      if (!one.run) {
        ++refused;
        QVERIFY2(one.run.error().message.find("going on is running") != std::string::npos,
                 one.run.error().message.c_str());
      }
    QCOMPARE(refused, 1);
  }

  void one_run_of_a_store_comes_by_its_number_or_name() {
    storage::StoreFixture theirs, ours;
    for (const char* name : {"first", "second", "third"}) make_whole_run(theirs, name);
    const auto second = import_into(ours, theirs.path + "#second");
    QCOMPARE(second.size(), size_t{1});
    VERIFY_RESULT(second[0].run);
    const auto again = import_into(ours, theirs.path + "#2");
    QVERIFY(again.size() == 1 && again[0].was_here);
    const auto none = import_into(ours, theirs.path + "#fourth");
    QVERIFY(none.size() == 1 && !none[0].run);
    QVERIFY2(none[0].run.error().message.find("fourth") != std::string::npos,
             none[0].run.error().message.c_str());
    QCOMPARE(must(ours.reader.runs()).size(), size_t{1});
  }

  void a_filter_chooses_among_the_runs_of_a_store() {
    storage::StoreFixture theirs, ours;
    for (const char* name : {"lr-1", "lr-2", "warm"}) make_whole_run(theirs, name);
    const auto import = [&](const std::string& from, const std::string& filter) {
      return must(process::run({.argv = {HEDDLE_BINARY_DIR "/command_driver", "import", from,
                                         "--filter", filter, "--store", ours.path},
                                .deadline = std::chrono::seconds(60)}));
    };
    const auto done = import(theirs.path, "name ~ \"lr*\"");
    QVERIFY2(done.exit_code == 0, done.err.c_str());
    QCOMPARE(std::ranges::count(done.out, '\n'), 2);
    std::vector<std::string> names;
    for (const auto& run : must(ours.reader.runs())) names.push_back(run.name);
    std::ranges::sort(names);
    QCOMPARE(names, (std::vector<std::string>{"lr-1", "lr-2"}));
    const auto none = import(theirs.path, "name is cold");
    QVERIFY(none.exit_code != 0);
    QVERIFY2(none.err.find("no run of it is as the filter says") != std::string::npos,
             none.err.c_str());
    const auto wrong = import(theirs.path, "nmae is cold");
    QVERIFY(wrong.exit_code != 0 && wrong.err.find("nmae") != std::string::npos);
    const auto no_store = import(theirs.folder.path().toStdString(), "lr");
    QVERIFY2(no_store.err.find("among the runs of a store") != std::string::npos,
             no_store.err.c_str());
    QCOMPARE(must(ours.reader.runs()).size(), size_t{2});
  }

  void a_store_is_not_taken_into_itself() {
    storage::StoreFixture store;
    make_whole_run(store, "one");
    const auto imported = import_into(store, store.path);
    QCOMPARE(imported.size(), size_t{1});
    QVERIFY(!imported[0].run);
    QCOMPARE(must(store.reader.runs()).size(), size_t{1});
  }

  void a_run_goes_to_somebody_as_one_file() {
    storage::StoreFixture theirs, ours;
    make_whole_run(theirs, "other");
    const storage::RunId run = make_whole_run(theirs, "sent");
    const std::string file = theirs.folder.filePath("sent.heddle").toStdString();
    const auto summary = must(theirs.reader.run(run)).summary;
    must(export_run_file(theirs.path, summary, file));
    QVERIFY(!std::filesystem::exists(file + "-wal"));
    VERIFY_SAYS(export_run_file(theirs.path, summary, file), "it is there already");
    const auto imported = import_into(ours, file);
    QCOMPARE(imported.size(), size_t{1});
    VERIFY_RESULT(imported[0].run);
    QCOMPARE(must(ours.reader.runs()).size(), size_t{1});
    verify_same_run(theirs.reader, run, ours.reader, imported[0].run->id);
    QVERIFY(import_into(ours, theirs.path).size() == 2);  // the other comes, this one is here
    QCOMPARE(must(ours.reader.runs()).size(), size_t{2});
    const auto going = theirs.create("new");
    VERIFY_SAYS(export_run_file(theirs.path, must(theirs.reader.run(going)).summary, file + "2"),
                "it can be sent once it has ended");
  }

  void what_is_no_store_of_ours_is_none() {
    storage::StoreFixture ours;
    const std::string file = ours.folder.filePath("other.sqlite").toStdString();
    std::ofstream(file) << "SQLite format 3 and nothing more";
    const auto imported = import_into(ours, file);
    QCOMPARE(imported.size(), size_t{1});
    QVERIFY(!imported[0].run);
  }
};

HEDDLE_TEST(MergeTest)
#include "merge_test.moc"
