// Rows a second into the store, and how long a page's queries take, at the sizes people have:
// 10,000 runs × 2,000 keys; 50 live runs × 2,000 points; 79 runs × 2,261 metrics; 10 million
// samples.
//   store_bench [live|metrics|long|runs]...   (default: all; stores in a new folder under TMPDIR)
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>

#include "base/clock.h"
#include "storage/queries.h"
#include "storage/writer.h"
#include "tests/bench/scale_stores.h"
#include "tests/support/results.h"

using namespace heddle;
using namespace heddle::storage;

namespace {

double seconds(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return seconds_since(begin);
}

/// The first time and the median of nine more.
void time_query(const char* what, const std::function<size_t()>& query) {
  size_t rows = 0;
  const double first = seconds([&] { rows = query(); });
  std::vector<double> more;
  for (int i = 0; i < 9; ++i) more.push_back(seconds([&] { rows = query(); }));
  std::sort(more.begin(), more.end());
  std::printf("  %-58s first %8.2f ms   then %8.2f ms   %zu rows\n", what, first * 1e3,
              more[4] * 1e3, rows);
}

struct Store {
  std::string path;
  std::unique_ptr<Writer> writer;
  Reader reader;

  explicit Store(const std::string& file)
      : path(file), writer(must(Writer::open(file))), reader(must(Reader::open(file))) {
    must(writer->take_lease());
  }
  double mebibytes() const {
    return static_cast<double>(std::filesystem::file_size(path)) / (1 << 20);
  }
};

NewRun named(const std::string& name) {
  NewRun run;
  run.name = name;
  return run;
}

/// Feeds `steps` steps in batches of `batch` records, `metrics` values each, to the run's end.
void feed(Store& store, RunId run, int64_t steps, int metrics, int64_t batch) {
  bench::feed_steps(*store.writer, run, steps, metrics, batch);
  must(store.writer->set_state(run, RunState::done));
}

void many_runs(const std::string& folder) {
  std::printf("10,000 runs x 2,000 keys\n");
  Store store(folder + "/runs.sqlite");
  NewRun run;
  run.recipe = std::string(2'000, '#');
  const double spent = seconds([&] {
    for (int i = 0; i < 10'000; ++i) {
      run.name = "run-" + std::to_string(i);
      run.recipe_values.clear();
      for (int k = 0; k < 2'000; ++k) {
        run.recipe_values.emplace_back("key." + std::to_string(k),
                                       std::to_string((i * 31 + k) % 97));
      }
      auto created = store.writer->create_run(run);
      if (i % 50 == 49) must(std::move(created));
    }
  });
  std::printf("  20,000,000 values in %.1f s: %.0f a second; %.0f MiB\n", spent, 2e7 / spent,
              store.mebibytes());
  time_query("list of runs", [&] { return must(store.reader.runs()).size(); });
  time_query("one column", [&] { return must(store.reader.column("recipe.key.77")).size(); });
  time_query("names of columns", [&] { return must(store.reader.columns()).size(); });
  time_query("one run in full", [&] { return must(store.reader.recipe_values(5'000)).size(); });
  time_query("comparison of 10 runs", [&] {
    return must(store.reader.compare({1, 2, 3, 40, 50, 600, 700, 8'000, 9'000, 10'000}))
        .recipe.size();
  });
  const double removal = seconds([&] { must(store.writer->remove(5'000)); });
  std::printf("  removal of a run %.1f ms\n", removal * 1e3);
}

void live_runs(const std::string& folder) {
  std::printf("50 runs x 2,000 points, 12 metrics\n");
  Store store(folder + "/live.sqlite");
  std::vector<RunId> runs;
  for (int i = 0; i < 50; ++i) runs.push_back(must(store.writer->create_run(named("live"))).id);
  const double spent = seconds([&] {
    for (const RunId run : runs) feed(store, run, 2'000, 12, 100);
  });
  std::printf(
      "  100,000 records (1.2 M samples) in %.1f s: %.0f records/s, 100 a batch; %.0f MiB\n", spent,
      1e5 / spent, store.mebibytes());
  time_query("one chart: the loss of 50 runs, 2,000 points each", [&] {
    size_t rows = 0;
    for (const RunId run : runs)
      rows += must(store.reader.series(run, "loss", 0, {}, 2'000)).size();
    return rows;
  });
  time_query("new steps of 50 runs, none came", [&] {
    size_t rows = 0;
    for (const RunId run : runs) rows += must(store.reader.steps_after(run, 1 << 30)).size();
    return rows;
  });
  time_query("list of runs", [&] { return must(store.reader.runs()).size(); });

  const RunId run = must(store.writer->create_run(named("paced"))).id;
  std::vector<double> latencies;
  uint64_t offset = 0;
  for (int64_t step = 1; step <= 300; ++step) {
    std::string bytes = must(telemetry::encode(telemetry::Step{step, 1, {{"loss", 1}}},
                                               static_cast<uint64_t>(step - 1)));
    const size_t size = bytes.size();
    latencies.push_back(
        seconds([&] { must(store.writer->ingest(run, 0, 0, offset, std::move(bytes))); }));
    offset += size;
  }
  std::sort(latencies.begin(), latencies.end());
  std::printf("  one record a batch, acknowledged after %.1f ms (median), %.1f ms (p99)\n",
              latencies[150] * 1e3, latencies[297] * 1e3);
  time_query("a chart of 300 steps, newest not in chunks",
             [&] { return must(store.reader.series(run, "loss", 0, {}, 2'000)).size(); });
}

void many_metrics(const std::string& folder) {
  std::printf("79 runs x 2,261 metrics, 100 steps\n");
  Store store(folder + "/metrics.sqlite");
  std::vector<RunId> runs;
  for (int i = 0; i < 79; ++i) runs.push_back(must(store.writer->create_run(named("wide"))).id);
  const double spent = seconds([&] {
    for (const RunId run : runs) feed(store, run, 100, 2'261, 20);
  });
  std::printf("  %.1f M samples in %.1f s: %.0f samples/s; %.0f MiB\n", 79 * 2261 * 100 / 1e6,
              spent, 79.0 * 2261 * 100 / spent, store.mebibytes());
  time_query("one run in full", [&] { return must(store.reader.run(runs[40])).series.size(); });
  time_query("one metric of 79 runs", [&] {
    size_t rows = 0;
    for (const RunId run : runs) {
      rows += must(store.reader.series(run, "metric.1000", 0, {}, 2'000)).size();
    }
    return rows;
  });
}

void long_run(const std::string& folder) {
  std::printf("one run of 10,000,000 samples (5 M steps x 2 metrics)\n");
  Store store(folder + "/long.sqlite");
  const RunId run = must(store.writer->create_run(named("long"))).id;
  constexpr int64_t kSteps = 5'000'000;
  const double spent = seconds([&] { feed(store, run, kSteps, 2, 1'000); });
  std::printf("  %.1f s: %.0f records/s, 1,000 a batch; %.0f MiB\n", spent, kSteps / spent,
              store.mebibytes());
  const auto chart = [&](StepRange range) {
    return must(store.reader.series(run, "loss", 0, range, 2'000)).size();
  };
  time_query("chart of everything, 2,000 points", [&] { return chart({}); });
  time_query("chart of a tenth", [&] { return chart({1'000'000, 1'500'000}); });
  time_query("chart of 2,000 steps", [&] { return chart({3'000'000, 3'001'999}); });
  time_query("raw samples of 100,000 steps (smoothing)", [&] {
    return must(store.reader.samples(run, "loss", 0, {2'000'000, 2'099'999})).size();
  });
  time_query("list of runs", [&] { return must(store.reader.runs()).size(); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(const std::string&)> shapes = {
      {"live", live_runs}, {"long", long_run}, {"metrics", many_metrics}, {"runs", many_runs}};
  std::vector<std::string> wanted(argv + 1, argv + argc);
  if (wanted.empty()) wanted = {"live", "metrics", "long", "runs"};
  for (const std::string& shape : wanted) {
    if (shapes.contains(shape)) continue;
    std::fprintf(stderr, "store_bench: no shape '%s'; valid: live, metrics, long, runs\n",
                 shape.c_str());
    return 2;
  }
  std::string folder = std::filesystem::temp_directory_path() / "store-XXXXXX";
  if (!mkdtemp(folder.data())) {
    std::perror("store_bench: temporary folder");
    return 1;
  }
  for (const std::string& shape : wanted) {
    shapes.at(shape)(folder);
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
  return 0;
}
