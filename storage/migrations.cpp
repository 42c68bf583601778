// The store's tables, version by version.
#include "storage/migrations.h"

#include <array>

#include "storage/compaction.h"
#include "storage/run_metrics.h"
#include "storage/store.h"

namespace heddle::storage {
namespace {

constexpr const char* kFirst = R"sql(
-- A run, without what grows long.
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('preparing', 'running', 'done', 'failed', 'stopped', 'lost')),
  cause TEXT NOT NULL DEFAULT '',
  target TEXT NOT NULL,
  recipe_name TEXT NOT NULL,
  created REAL NOT NULL,
  started REAL,
  finished REAL,
  hosts TEXT NOT NULL,
  run_dir TEXT NOT NULL,
  tags TEXT NOT NULL DEFAULT '[]',
  notes TEXT NOT NULL DEFAULT '',
  trashed REAL
) STRICT;

CREATE TABLE recipes (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  toml TEXT NOT NULL
) STRICT;

-- What the list of runs shows, kept at ingestion. loss_flag: 0 finite or none, 1 NaN, 2 +inf, 3 -inf.
CREATE TABLE summaries (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  steps INTEGER NOT NULL DEFAULT 0,
  loss REAL,
  loss_flag INTEGER NOT NULL DEFAULT 0,
  tokens_per_second_per_rank REAL,
  sparkline BLOB NOT NULL DEFAULT x''
) STRICT;

-- The thinned curves that summaries are computed from (curve.h).
CREATE TABLE curves (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  loss BLOB NOT NULL DEFAULT x'',
  throughput BLOB NOT NULL DEFAULT x''
) STRICT;

-- How far each log has been read. Step records with a sequence number from `compacted` on are not in
-- chunks yet; `pending` counts them.
CREATE TABLE logs (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  offset INTEGER NOT NULL DEFAULT 0,
  next_seq INTEGER NOT NULL DEFAULT 0,
  records INTEGER NOT NULL DEFAULT 0,
  pending INTEGER NOT NULL DEFAULT 0,
  compacted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run, rank, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE gaps (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (run, rank, epoch, offset)
) STRICT, WITHOUT ROWID;

-- Every record of every log, once, byte for byte. checksum: the frame's, as a signed number.
CREATE TABLE records (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  type INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  payload BLOB NOT NULL,
  UNIQUE (run, rank, epoch, seq)
) STRICT;
CREATE INDEX records_by_type ON records (run, type);

-- The newest timeline of a step and rank.
CREATE TABLE spans (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  step INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (run, step, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE lines (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  time REAL NOT NULL,
  level INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX lines_by_run ON lines (run);

CREATE TABLE series (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  name TEXT NOT NULL,
  UNIQUE (run, name)
) STRICT;

-- Level 0: samples; level n: bins of 16^n samples (chunk.h). first_index: of the chunk's first item
-- among all items of its level.
CREATE TABLE chunks (
  series INTEGER NOT NULL REFERENCES series ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  level INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  first_index INTEGER NOT NULL,
  count INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (series, rank, epoch, level, first_step)
) STRICT;

-- recipe.*, environment.* and results.* of all runs. By key first: a column over all runs is one range,
-- one run is a seek a key. flag as in summaries. No reference to runs: its check would scan the table.
CREATE TABLE keys (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE facts (
  key INTEGER NOT NULL,
  run INTEGER NOT NULL,
  value ANY,
  flag INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (key, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE targets (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  hosts TEXT NOT NULL,
  host_keys TEXT NOT NULL,
  probe TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  verb TEXT NOT NULL
) STRICT;
)sql";

constexpr const char* kLineageAndLinks = R"sql(
-- The run whose checkpoint another began with, at which step; its name stays when it is removed.
ALTER TABLE runs ADD COLUMN parent INTEGER REFERENCES runs ON DELETE SET NULL;
ALTER TABLE runs ADD COLUMN parent_name TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN parent_step INTEGER;
ALTER TABLE runs ADD COLUMN lineage TEXT NOT NULL DEFAULT '' CHECK (lineage IN ('', 'resume', 'fork'));

-- The connection to a running run's hosts, as the process that follows it sees it. Unix seconds.
-- lost: since when there is none; next_try: when it is tried again.
CREATE TABLE links (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  heard REAL NOT NULL,
  lost REAL,
  next_try REAL,
  reason TEXT NOT NULL DEFAULT ''
) STRICT;
)sql";

constexpr const char* kMetricsAndChanges = R"sql(
ALTER TABLE runs ADD COLUMN starred REAL;
ALTER TABLE runs ADD COLUMN archived REAL;
ALTER TABLE runs ADD COLUMN color TEXT NOT NULL DEFAULT '';
-- The sweep or group that the run belongs to.
ALTER TABLE runs ADD COLUMN group_name TEXT NOT NULL DEFAULT '';
-- Grows with each change to a row of the store that belongs to a run: one counter for all runs.
ALTER TABLE runs ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET changed = id;
CREATE INDEX runs_by_change ON runs (changed);
CREATE TABLE removed_runs (
  run INTEGER PRIMARY KEY,
  changed INTEGER NOT NULL
) STRICT;

-- Each series of each run in one row (metric_summary.h), of the lowest rank that has it; by metric
-- first, as facts. last_flag as in summaries.
CREATE TABLE metrics (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE metric_summaries (
  metric INTEGER NOT NULL,
  run INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  count INTEGER NOT NULL,
  nonfinite INTEGER NOT NULL,
  last REAL,
  last_flag INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  min REAL,
  min_step INTEGER NOT NULL,
  max REAL,
  max_step INTEGER NOT NULL,
  mean REAL,
  PRIMARY KEY (metric, run)
) STRICT, WITHOUT ROWID;
)sql";

constexpr const char* kQueue = R"sql(
-- Runs that wait for their target (queue.h); their state in `runs` is still preparing. The lowest
-- place of a target is next.
CREATE TABLE queue (
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  place INTEGER NOT NULL,
  at_once INTEGER NOT NULL,
  mode TEXT NOT NULL
) STRICT;
-- After the step the best `keep` runs of the group go on, by the metric.
CREATE TABLE rungs (
  group_name TEXT NOT NULL,
  step INTEGER NOT NULL,
  keep INTEGER NOT NULL,
  metric TEXT NOT NULL,
  PRIMARY KEY (group_name, step)
) STRICT, WITHOUT ROWID;
CREATE INDEX unfinished_runs ON runs (target) WHERE state IN ('preparing', 'running');
CREATE INDEX runs_by_group ON runs (group_name) WHERE group_name <> '';
)sql";

constexpr const char* kStepBlocks = R"sql(
DROP TABLE IF EXISTS step_blocks;
-- Step records whose values are in chunks, and what of them is not (step_block.h). Their rows of
-- `records`, by which others continue reading, had the ids first_id to last_id. digest: the sum of the records' digests.
CREATE TABLE step_blocks (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL,
  count INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (run, rank, epoch, first_seq)
) STRICT;
CREATE INDEX step_blocks_by_id ON step_blocks (run, last_id, first_id);
)sql";

constexpr const char* kWaitingJobs = R"sql(
-- While the run's job waits in a batch system's queue: the queue's words.
ALTER TABLE links ADD COLUMN waits TEXT NOT NULL DEFAULT '';
)sql";

/// Chunks are packed since, and step records that they have the whole of are in blocks.
void compact_again(Connection& connection) {
  compact_all(connection);
  fill_metric_summaries(connection);
}

constexpr std::array kMigrations = {
    Migration{kFirst}, Migration{kLineageAndLinks},           Migration{kMetricsAndChanges},
    Migration{kQueue}, Migration{kStepBlocks, compact_again}, Migration{kWaitingJobs}};
static_assert(kMigrations.size() == kSchemaVersion);

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

}  // namespace heddle::storage
