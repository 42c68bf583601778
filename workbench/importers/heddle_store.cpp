#include "workbench/importers/heddle_store.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <tuple>

#include "base/read_file.h"
#include "engine/telemetry/log_reader.h"
#include "storage/open_files.h"
#include "storage/queries.h"
#include "storage/store.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

constexpr std::array kEndings = {kRunFile, ".sqlite", ".db"};
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr size_t kApplicationIdAt = 68;  // in the file's header, its highest byte first
constexpr size_t kHeaderBytes = 100;

bool recognise_store(const std::string& path) {
  const bool may_be =
      std::ranges::any_of(kEndings, [&](const char* ending) { return path.ends_with(ending); });
  if (!may_be) return false;
  if (!storage::may_open(path)) return true;  // a store that this process has open
  const auto header = read_part(path, 0, kHeaderBytes);
  if (!header || header->size() < kHeaderBytes || !header->starts_with(kMagic)) return false;
  uint32_t id = 0;
  for (size_t i = 0; i < 4; ++i)
    id = id << 8 | static_cast<uint8_t>((*header)[kApplicationIdAt + i]);
  return id == static_cast<uint32_t>(storage::kApplicationId);
}

struct RunOfStore {
  std::shared_ptr<storage::Reader> reader;
  storage::RunDetail run;
};

Result<RunOfStore> open_run(const std::string& path) {
  const size_t at = path.rfind('#');
  Result<storage::Reader> reader = storage::Reader::open(path.substr(0, at));
  if (!reader) return fail(reader);
  if (at == std::string::npos) return fail("{}: it names no run of the store", path);
  const auto found = reader->find_run(path.substr(at + 1));
  if (!found) return fail(found);
  auto run = reader->run(found->id);
  if (!run) return fail(run);
  return RunOfStore{std::make_shared<storage::Reader>(std::move(*reader)), std::move(*run)};
}

std::optional<uint64_t> identify_run(const std::string& path) {
  const auto open = open_run(path);
  if (!open) return std::nullopt;
  const auto piece = open->reader->log_piece(open->run.summary.id, 0, 0, 0);
  if (!piece) return std::nullopt;
  telemetry::LogReader log;
  log.feed(piece->bytes);
  const auto event = log.next();
  if (!event || !std::holds_alternative<telemetry::Frame>(*event)) return std::nullopt;
  return std::get<telemetry::Frame>(*event).checksum;
}

/// In the order to take them in: see heddle_run.cpp.
Result<std::vector<ForeignLog>> logs_of(const RunOfStore& from, const std::string& path) {
  auto logs = from.reader->logs(from.run.summary.id);
  if (!logs) return fail(logs);
  std::ranges::sort(*logs, {}, [](const storage::LogCursor& log) {
    return std::tuple(log.epoch, log.rank == telemetry::kSupervisorRank, log.rank);
  });
  std::vector<ForeignLog> foreign;
  for (const storage::LogCursor& log : *logs)
    foreign.push_back({path, log.rank, log.epoch,
                       [reader = from.reader, id = from.run.summary.id, log,
                        seq = uint64_t{0}]() mutable -> Result<std::string> {
                         auto piece = reader->log_piece(id, log.rank, log.epoch, seq);
                         if (!piece) return fail(piece);
                         seq = piece->next_seq;
                         return std::move(piece->bytes);
                       }});
  return foreign;
}

Result<std::vector<storage::LogLine>> lines_of(const RunOfStore& from) {
  std::vector<storage::LogLine> all;
  for (int64_t after = 0;;) {
    auto lines = from.reader->lines_after(from.run.summary.id, after);
    if (!lines) return fail(lines);
    if (lines->empty()) return all;
    after = lines->back().id;
    std::ranges::move(*lines, std::back_inserter(all));
  }
}

Result<ForeignRun> read_run(const std::string& path) {
  auto from = open_run(path);
  if (!from) return fail(from);
  const storage::RunSummary& summary = from->run.summary;
  if (!storage::has_ended(summary.state))
    return fail("{}: {} is {}; import it when it has ended", path, summary.name,
                storage::to_string(summary.state));
  ForeignRun run;
  run.name = summary.name;
  run.recipe = from->run.recipe;
  run.recipe_name = summary.recipe_name;
  run.state = summary.state;
  run.cause = summary.cause;
  run.finished = summary.finished.value_or(0);
  run.created = summary.created;
  run.lineage = summary.lineage;
  if (run.lineage) run.lineage->parent = 0;  // the number is the other store's
  run.marks = summary;
  run.environment = from->run.environment;
  run.results = from->run.results;
  auto logs = logs_of(*from, path);
  if (!logs) return fail(logs);
  run.logs = std::move(*logs);
  auto lines = lines_of(*from);
  if (!lines) return fail(lines);
  run.lines = std::move(*lines);
  return run;
}

/// A store that cannot be read is its own only run, whose reading tells why.
std::vector<std::string> runs_of_store(const std::string& path) {
  auto reader = storage::Reader::open(path);
  const auto runs = reader ? reader->runs() : fail(reader);
  if (!runs) return {path};
  std::vector<std::string> paths;
  for (const storage::RunSummary& run : *runs) paths.push_back(path_of_run(path, run.id));
  return paths;
}

}  // namespace

const Importer kHeddleStore{"*.sqlite of Heddle", "another store", recognise_store,
                            identify_run,         read_run,        runs_of_store};

std::string path_of_run(const std::string& store, storage::RunId run) {
  return store + '#' + std::to_string(run);
}

}  // namespace heddle::workbench
