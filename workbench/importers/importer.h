// Runs made elsewhere, by kind: an importer recognises a run by its path and reads it. The store
// then holds such a run as if Heddle had trained it: its logs are telemetry records.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/run.h"
#include "storage/step_columns.h"

namespace heddle::workbench {

/// One log of a run, part by part.
struct ForeignLog {
  std::string path;  // for messages
  int32_t rank = 0;
  int32_t epoch = 0;
  /// The next part; empty at the end. Bytes that follow columns are whole frames.
  std::function<Result<storage::LogPart>()> next;
};

/// A run as an importer has read it.
struct ForeignRun {
  std::string name;
  std::string recipe;  // TOML; empty: none
  std::optional<storage::Lineage> lineage;
  std::vector<ForeignLog> logs;  // in the order to take them in
  storage::RunState state = storage::RunState::lost;
  std::string cause;    // why it failed, stopped or was lost
  double finished = 0;  // Unix seconds; 0: unknown
  double created = 0;   // Unix seconds; 0: when it finished
  /// The rest is of runs of another store: what their logs do not say.
  std::string recipe_name = {};
  storage::RunSummary marks = {};  // tags, notes, star, color, group, archive
  storage::Values environment = {}, results = {};
  std::vector<storage::LogLine> lines = {};
};

/// A kind of run, one file of this folder. All functions block and may be called from any thread;
/// `path` is absolute.
struct Importer {
  const char* sign;   // of such a run in a folder, for messages: "rank-0.0.hlog"
  const char* words;  // for messages: "the directory of a run"
  /// Whether a folder or a regular file is such a run. Reads names and at most a file's first
  /// bytes: it is called for every file and folder below an imported one.
  bool (*recognise)(const std::string& path);
  /// The checksum of the first record of rank 0's log (telemetry::Frame::checksum): the store has
  /// the run already if one of its runs began with that record. None: it cannot be read.
  std::optional<uint64_t> (*identify)(const std::string& path);
  /// Follows no links and waits for no pipes. An error: it is damaged, or still going on.
  Result<ForeignRun> (*read)(const std::string& path);
  /// For kinds with several runs in a file: a path for each. Null: the path is one run.
  std::vector<std::string> (*runs_in)(const std::string& path) = nullptr;
};

/// Every kind, in the order in which they are tried.
const std::vector<const Importer*>& importers();

}  // namespace heddle::workbench
