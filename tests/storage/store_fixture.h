// A store in a temporary folder, and logs made of real frames, for the tests of this folder.
#pragma once

#include <xxhash.h>

#include <QTemporaryDir>
#include <cmath>
#include <string>
#include <vector>

#include "engine/telemetry/log_reader.h"
#include "storage/queries.h"
#include "storage/writer.h"
#include "tests/support/results.h"

namespace heddle::storage {

inline std::string log_of(const std::vector<telemetry::Record>& records, uint64_t first_seq = 0) {
  std::string log;
  for (const telemetry::Record& record : records) {
    log += must(telemetry::encode(record, first_seq++));
  }
  return log;
}

/// A step whose numbers follow from its own: loss 1000 / step, tokens_per_second 100 + step.
inline telemetry::Step step_record(int64_t step) {
  const auto number = static_cast<double>(step);
  return {step, 1e9 + number, {{"loss", 1000 / number}, {"tokens_per_second", 100 + number}}};
}

/// A whole run of one rank: start, steps (every tenth with a timeline and a line), end.
inline std::vector<telemetry::Record> whole_run(int64_t steps, int32_t rank = 0) {
  const std::vector<telemetry::Span> spans = {{"mm", "layers.0", 0, 100, 0, 0},
                                              {"all_gather", "layers.1", 20, 60, 1, 0},
                                              {"mm", "layers.0", 120, 200, 0, 1}};
  std::vector<telemetry::Record> records;
  records.emplace_back(
      telemetry::Start{1e9, rank, 1, "planned", {{"host", "loom"}}, {{"nodes", 400}}});
  for (int64_t step = 1; step <= steps; ++step) {
    const double time = 1e9 + static_cast<double>(step);
    records.emplace_back(step_record(step));
    if (step % 10 != 0) continue;
    records.emplace_back(telemetry::Spans{step, time, spans});
    records.emplace_back(
        telemetry::Log{time, telemetry::Level::info, "step " + std::to_string(step)});
  }
  records.emplace_back(telemetry::End{2e9, "done", "", {{"peak_bytes", 3e9}}});
  return records;
}

/// The `Reader::digests` of a log that holds all whole records of `log`.
inline LogDigest digest_of(const std::string& log, int32_t rank = 0, int32_t epoch = 0) {
  LogDigest digest{.rank = rank, .epoch = epoch};
  telemetry::LogReader reader;
  reader.feed(log);
  reader.finish();
  while (const auto event = reader.next()) {
    const auto* frame = std::get_if<telemetry::Frame>(&*event);
    if (!frame) continue;
    if (digest.records++ == 0) digest.first_seq = frame->seq;
    digest.last_seq = frame->seq;
    const uint64_t both[] = {frame->seq, frame->checksum};
    digest.checksum += XXH3_64bits(both, sizeof both);
  }
  return digest;
}

inline bool same(const LogDigest& a, const LogDigest& b) {
  return a.rank == b.rank && a.epoch == b.epoch && a.records == b.records &&
         a.first_seq == b.first_seq && a.last_seq == b.last_seq && a.checksum == b.checksum;
}

inline NewRun named(const std::string& name) {
  NewRun run;
  run.name = name;
  return run;
}

struct StoreFixture {
  QTemporaryDir folder;
  std::string path = folder.filePath("heddle.sqlite").toStdString();
  std::unique_ptr<Writer> writer = must(Writer::open(path));
  Reader reader = must(Reader::open(path));

  StoreFixture() { must(writer->take_lease()); }

  RunId create(const std::string& name = "run") {
    NewRun run = named(name);
    run.target = "this-machine";
    run.recipe_name = "debug";
    run.recipe = "[model]\npreset = \"llama3-debug\"\n";
    run.recipe_values = {{"model.preset", "\"llama3-debug\""}, {"optimizer.lr", "0.0003"}};
    return must(writer->create_run(run)).id;
  }

  Ingested feed(RunId run, const std::string& log, int32_t rank = 0, int32_t epoch = 0) {
    return must(writer->ingest(run, rank, epoch, 0, log));
  }

  RunSummary summary(RunId run) { return must(reader.run(run)).summary; }
};

}  // namespace heddle::storage
