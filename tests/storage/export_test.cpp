// A run as files: read back and compared with what went in.
#include "storage/export.h"

#include <fmt/format.h>

#include <QtTest>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "storage/chrome_trace.h"
#include "tests/storage/store_fixture.h"
#include "tests/support/files.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::storage;
using heddle::test::read_text;
using nlohmann::json;

namespace {}  // namespace

class ExportTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void metrics_timelines_and_recipe() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of({telemetry::Step{1, 10.5, {{"loss", 8.25}, {"odd, \"name\"", 1}}},
                            telemetry::Step{2, 11.5, {{"loss", std::nan("")}, {"lr", 3e-4}}},
                            telemetry::Spans{2, 100.0, {{"mm", "layers.0", 5, 7, 0, 0}}}}));
    store.feed(run,
               log_of({telemetry::Step{1, 10.25, {{"loss", 8.5}}},
                       telemetry::Spans{2, 100.001, {{"all_gather", "layers.1", 1, 2, 1, 1}}}}),
               1);
    const std::string folder = store.folder.filePath("out/deep").toStdString();
    must(export_run(store.reader, run, folder));

    QCOMPARE(read_text(folder + "/metrics.csv"),
             std::string("step,rank,time,loss,lr,\"odd, \"\"name\"\"\"\n"
                         "1,0,10.500000,8.25,,1\n"
                         "2,0,11.500000,nan,0.0003,\n"
                         "1,1,10.250000,8.5,,\n"));
    QCOMPARE(read_text(folder + "/recipe.toml"),
             std::string("[model]\npreset = \"llama3-debug\"\n"));

    const json trace = json::parse(read_text(folder + "/trace.json"));
    std::vector<json> work;
    for (const json& event : trace["traceEvents"]) {
      if (event["ph"] == "X") work.push_back(event);
    }
    QCOMPARE(work.size(), size_t{2});
    const json first = {
        {"ph", "X"},        {"name", "mm"},
        {"cat", "forward"}, {"pid", 0},
        {"tid", 0},         {"ts", 5.0},
        {"dur", 7},         {"args", {{"module", "layers.0"}, {"phase", "forward"}, {"step", 2}}}};
    const json second = {{"ph", "X"},
                         {"name", "all_gather"},
                         {"cat", "backward"},
                         {"pid", 1},
                         {"tid", 1},
                         {"ts", 1001.0},
                         {"dur", 2},
                         {"args", {{"module", "layers.1"}, {"phase", "backward"}, {"step", 2}}}};
    QCOMPARE(work[0].dump(), first.dump());
    QCOMPARE(work[1].dump(), second.dump());
    std::vector<std::string> names;
    for (const json& event : trace["traceEvents"]) {
      if (event["ph"] == "M" && event["pid"] == 1) names.push_back(event["args"]["name"]);
    }
    QCOMPARE(names, (std::vector<std::string>{"rank 1", "compute", "communication",
                                              "waiting for ranks", "pipeline bubble"}));
  }

  void memory_over_a_step_is_a_track_of_its_rank() {
    StoreFixture store;
    const RunId run = store.create();
    telemetry::Spans spans{2, 100.0, {{"mm", "layers.0", 5, 7, 0, 0}}, {{0, {}}, {6, {}}}};
    spans.memory[0].bytes[telemetry::Category::parameters] = 64;
    spans.memory[1].bytes[telemetry::Category::parameters] = 64;
    spans.memory[1].bytes[telemetry::Category::activations] = 32;
    store.feed(run, log_of({telemetry::Step{2, 101, {{"loss", 8}}}, spans}));
    const std::string folder = store.folder.filePath("out").toStdString();
    must(export_run(store.reader, run, folder));
    const json trace = json::parse(read_text(folder + "/trace.json"));
    std::string track;
    for (const json& event : trace["traceEvents"])
      if (event["ph"] == "C")
        track += fmt::format("{} of {} at {}: {} + {}\n", event["name"].get<std::string>(),
                             event["pid"].get<int>(), event["ts"].get<double>(),
                             event["args"]["parameters"].get<int>(),
                             event["args"]["activations"].get<int>());
    QCOMPARE(track, std::string("memory of 0 at 0: 64 + 0\nmemory of 0 at 6: 64 + 32\n"));
  }

  // Readers of traces let a thread's events overlap only where one is within the other; else they
  // move the ends.
  void spans_that_overlap_are_on_threads_of_their_own() {
    StoreFixture store;
    const RunId run = store.create();
    store.feed(run, log_of({telemetry::Step{1, 101, {{"loss", 8}}},
                            telemetry::Spans{1,
                                             100,
                                             {{"gather", "layers.0", 0, 10, 1, 0},
                                              {"reduce", "layers.1", 4, 12, 1, 0},
                                              {"gather", "layers.2", 10, 5, 1, 0},
                                              {"mm", "layers.1", 18, 4, 0, 0}}}}));
    const std::string folder = store.folder.filePath("out").toStdString();
    must(export_run(store.reader, run, folder));
    std::map<int, std::vector<std::pair<double, double>>> threads;
    std::map<int, std::string> names;
    const json trace = json::parse(read_text(folder + "/trace.json"));
    for (const json& event : trace["traceEvents"]) {
      const int thread = event["tid"];
      if (event["ph"] == "M" && event["name"] == "thread_name")
        names[thread] = event["args"]["name"];
      if (event["ph"] == "X")
        threads[thread].push_back(
            {event["ts"], event["ts"].get<double>() + event["dur"].get<double>()});
    }
    size_t spans = 0;
    for (auto& [thread, times] : threads) {
      spans += times.size();
      std::ranges::sort(times);
      for (size_t i = 1; i < times.size(); ++i) QVERIFY(times[i - 1].second <= times[i].first);
      QVERIFY(names.contains(thread));
    }
    QCOMPARE(spans, size_t{4});
    QCOMPARE(names[1 + int(ChromeTrace::kStreams)], std::string("communication 2"));
  }

  void a_run_without_records_has_empty_tables() {
    StoreFixture store;
    const std::string folder = store.folder.filePath("out").toStdString();
    must(export_run(store.reader, store.create(), folder));
    QCOMPARE(read_text(folder + "/metrics.csv"), std::string("step,rank,time\n"));
    QVERIFY(json::parse(read_text(folder + "/trace.json"))["traceEvents"].empty());
  }

  void errors_name_the_place() {
    StoreFixture store;
    const RunId run = store.create();
    QVERIFY(!export_run(store.reader, run + 1, store.folder.path().toStdString()));
    const Result<> refused = export_run(store.reader, run, "/proc/heddle-export");
    QVERIFY(!refused);
    QVERIFY(refused.error().message.find("/proc/heddle-export") != std::string::npos);
  }
};

HEDDLE_TEST(ExportTest)
#include "export_test.moc"
