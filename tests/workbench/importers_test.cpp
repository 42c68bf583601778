// The seam of importers: a kind of run that only this test knows, and how kinds are listed.
#include <filesystem>
#include <fstream>
#include <memory>

#include "engine/telemetry/log_reader.h"
#include "tests/support/test_class.h"
#include "tests/workbench/run_fixture.h"
#include "workbench/import.h"

using namespace heddle;
using namespace heddle::workbench;

namespace {

// A run is a file of losses, one a line.
std::string log_of(const std::string& path) {
  telemetry::Start start;
  start.time = 100;
  std::string log = must(telemetry::encode(start, 0));
  std::ifstream file(path);
  int64_t step = 0;
  for (double loss = 0; file >> loss;) {
    ++step;
    log += must(telemetry::encode(
        telemetry::Step{.step = step, .time = 100.0 + step, .values = {{"loss", loss}}}, step));
  }
  return log;
}

bool recognise_losses(const std::string& path) { return path.ends_with(".losses"); }

std::optional<uint64_t> identify_losses(const std::string& path) {
  telemetry::LogReader reader;
  reader.feed(log_of(path));
  return std::get<telemetry::Frame>(reader.next().value()).checksum;
}

Result<ForeignRun> read_losses(const std::string& path) {
  ForeignRun run;
  run.name = std::filesystem::path(path).stem();
  run.state = storage::RunState::done;
  run.finished = 200;
  run.logs.push_back({path, 0, 0, [path, given = false]() mutable -> Result<std::string> {
                        return std::exchange(given, true) ? std::string() : log_of(path);
                      }});
  return run;
}

const Importer kLosses{"*.losses", "a file of losses", recognise_losses, identify_losses,
                       read_losses};

}  // namespace

class ImportersTest : public QObject {
  Q_OBJECT

  /// In folders of ten.
  static void write_logs(const RunFixture& fixture, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string folder = fixture.path(fmt::format("logs/{:02}", i / 10));
      std::filesystem::create_directories(folder);
      std::ofstream(fmt::format("{}/{}.csv", folder, i % 10)) << "step,loss\n1," << i << "\n";
    }
  }

 private Q_SLOTS:
  void a_foreign_kind_becomes_a_run() {
    RunFixture fixture;
    const auto writer = must(storage::Writer::open(fixture.store));
    const std::string path = fixture.path("elsewhere.losses");
    std::ofstream(path) << "3.5\n2.25\n1.125\n";
    QVERIFY(kLosses.recognise(path) && kLosses.identify(path));
    const auto run = must(import_run(*writer, {path, &kLosses}));
    QCOMPARE(run.name, std::string("elsewhere"));
    const storage::RunDetail detail = fixture.detail(run.id);
    QCOMPARE(detail.summary.state, storage::RunState::done);
    QCOMPARE(detail.summary.target, std::string(kImported));
    QCOMPARE(detail.summary.steps, int64_t(3));
    QCOMPARE(detail.summary.loss.value(), 1.125);
    QCOMPARE(detail.summary.finished.value(), 200.0);
    QCOMPARE(detail.recipe, std::string());
    QCOMPARE(detail.run_dir, path);
    // The next import finds it by its first record.
    storage::Reader reader = must(storage::Reader::open(fixture.store));
    QCOMPARE(must(reader.runs_that_began(*kLosses.identify(path))),
             std::vector<storage::RunId>{run.id});
  }

  void a_search_that_is_stopped_looks_at_no_more_files() {
    RunFixture fixture;
    const auto writer = must(storage::Writer::open(fixture.store));
    write_logs(fixture, 300);
    size_t seen = 0, calls = 0;
    const auto done =
        import_runs(fixture.store, *writer, {fixture.path("logs")}, [&](const ImportProgress& at) {
          ++calls;
          seen = at.seen;
          return seen < 20;
        });
    QVERIFY(done.empty());
    QCOMPARE(seen, size_t{20});
    QCOMPARE(calls, size_t{21});
    QVERIFY(must(must(storage::Reader::open(fixture.store)).runs()).empty());
  }

  // In the middle of the third run's log.
  void an_import_that_is_stopped_keeps_the_runs_before() {
    RunFixture fixture;
    const auto writer = must(storage::Writer::open(fixture.store));
    write_logs(fixture, 6);
    int parts = 0;
    const auto done =
        import_runs(fixture.store, *writer, {fixture.path("logs")},
                    [&](const ImportProgress& at) { return at.done < 2 || ++parts < 3; });
    QCOMPARE(parts, 3);
    QCOMPARE(done.size(), size_t{2});
    for (const Imported& one : done) QVERIFY(one.run);
    const auto runs = must(must(storage::Reader::open(fixture.store)).runs());
    QCOMPARE(runs.size(), size_t{2});
    for (const auto& run : runs) QCOMPARE(run.state, storage::RunState::done);
    // The same again takes in the others.
    QCOMPARE(import_runs(fixture.store, *writer, {fixture.path("logs")}).size(), size_t{6});
    QCOMPARE(must(must(storage::Reader::open(fixture.store)).runs()).size(), size_t{6});
  }

  void a_path_without_a_run_names_every_kind() {
    RunFixture fixture;
    const auto writer = must(storage::Writer::open(fixture.store));
    const auto done = import_runs(fixture.store, *writer, {fixture.path("absent")});
    QCOMPARE(done.size(), size_t(1));
    const std::string message = done[0].run.error().message;
    for (const Importer* importer : importers()) {
      QVERIFY2(message.find(importer->sign) != message.npos, message.c_str());
      QVERIFY2(message.find(importer->words) != message.npos, message.c_str());
    }
  }
};

HEDDLE_TEST(ImportersTest)
#include "importers_test.moc"
