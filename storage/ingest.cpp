#include "storage/ingest.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/read_json.h"
#include "engine/telemetry/metrics.h"
#include "storage/compaction.h"
#include "storage/run_rows.h"

namespace heddle::storage {
namespace {

using namespace telemetry;

constexpr size_t kLossPoints = 60;
constexpr size_t kThroughputPoints = 512;
constexpr const char* kNotAllDrawn = "not all of its metrics are drawn";

std::string name_of(const LogKey& log) {
  return log.rank == kSupervisorRank ? std::string("the supervisor's log")
                                     : fmt::format("rank {}'s log", log.rank);
}

Values values_of(const auto& map) { return Values(map.begin(), map.end()); }

}  // namespace

void Ingestor::forget(RunId run) {
  std::erase_if(open_, [run](const auto& entry) { return entry.first.run == run; });
  metrics_.forget(run);
}

Result<Ingestor::OpenLog*> Ingestor::open(const LogKey& log) {
  if (const auto found = open_.find(log); found != open_.end()) return &found->second;
  if (Result<> run = require_run(connection_, log.run); !run) return fail(run);
  connection_.execute("INSERT OR IGNORE INTO logs (run, rank, epoch) VALUES (?, ?, ?)", log.run,
                      log.rank, log.epoch);
  Rows rows = connection_.query(
      "SELECT offset, next_seq FROM logs WHERE run = ? AND rank = ? AND epoch = ?", log.run,
      log.rank, log.epoch);
  rows.next();
  OpenLog open{.reader = LogReader(static_cast<uint64_t>(rows.integer(0))),
               .next_seq = static_cast<uint64_t>(rows.integer(1))};
  return &open_.emplace(log, std::move(open)).first->second;
}

Result<Ingested> Ingestor::ingest(const LogKey& log, uint64_t offset, std::string_view bytes) {
  Result<OpenLog*> open = this->open(log);
  if (!open) return fail(open);
  const uint64_t have = (*open)->reader.end();
  if (offset > have) {
    const uint64_t from = (*open)->reader.consumed();
    open_.erase(log);  // its row may be new: the error undoes it
    return fail("{}: bytes {} to {} are missing: feed it from {}", name_of(log), have, offset,
                from);
  }
  if (offset + bytes.size() > have) (*open)->reader.feed(bytes.substr(have - offset));
  return take(log, **open);
}

Result<Ingested> Ingestor::append(const LogKey& log, std::string_view frames) {
  Result<OpenLog*> open = this->open(log);
  if (!open) return fail(open);
  return ingest(log, (*open)->reader.end(), frames);
}

Result<Ingested> Ingestor::end_log(const LogKey& log) {
  Result<OpenLog*> open = this->open(log);
  if (!open) return fail(open);
  (*open)->reader.finish();
  Result<Ingested> taken = take(log, **open);
  compact(connection_, log);
  open_.erase(log);
  return taken;
}

Result<uint64_t> Ingestor::cursor(const LogKey& log) {
  if (const auto found = open_.find(log); found != open_.end()) return found->second.reader.end();
  if (Result<> run = require_run(connection_, log.run); !run) return fail(run);
  Rows rows = connection_.query("SELECT offset FROM logs WHERE run = ? AND rank = ? AND epoch = ?",
                                log.run, log.rank, log.epoch);
  return rows.next() ? static_cast<uint64_t>(rows.integer(0)) : 0;
}

Result<Ingested> Ingestor::take(const LogKey& log, OpenLog& open) {
  connection_.set_cache(Connection::Cache::narrow);
  Ingested ingested;
  new_steps_ = {};
  while (std::optional<Event> event = open.reader.next()) {
    if (const auto* frame = std::get_if<Frame>(&*event)) {
      ingested.records += add_frame(log, open, *frame);
    } else {
      add_gap(log, std::get<Gap>(*event));
      ++ingested.gaps;
    }
  }
  ingested.acknowledged = open.reader.consumed();
  ingested.next_offset = open.reader.end();
  int64_t pending = 0;
  {
    Rows rows = connection_.query(
        "UPDATE logs SET offset = ?, next_seq = ?, pending = pending + ?, records = records + ? "
        "WHERE run = ? AND rank = ? AND epoch = ? RETURNING pending",
        ingested.acknowledged, open.next_seq, std::exchange(open.new_steps, 0), ingested.records,
        log.run, log.rank, log.epoch);
    if (rows.next()) pending = rows.integer(0);
  }
  update_summary(log);
  metrics_.save(log.run);
  if (ingested.records > 0) touch(connection_, log.run);
  if (pending >= kCompactAfter) compact(connection_, log);
  return ingested;
}

bool Ingestor::add_frame(const LogKey& log, OpenLog& open, const Frame& frame) {
  const bool known = frame.seq < open.next_seq && is_in_block(connection_, log, frame.seq);
  const int added =
      known ? 0
            : connection_.execute(
                  "INSERT OR IGNORE INTO records (run, rank, epoch, seq, type, offset, checksum, "
                  "payload) "
                  "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                  log.run, log.rank, log.epoch, frame.seq, static_cast<int>(frame.type),
                  frame.offset, static_cast<int64_t>(frame.checksum), Blob{frame.payload});
  if (added == 0) {
    add_gap(log, {frame.offset, frame.bytes, fmt::format("record {} is there twice", frame.seq)});
    return false;
  }
  const int64_t id = connection_.last_insert_id();
  if (frame.seq > open.next_seq) {
    warn(log, Level::warning,
         fmt::format("{}: records {} to {} are missing", name_of(log), open.next_seq,
                     frame.seq - 1));
  }
  open.next_seq = std::max(open.next_seq, frame.seq + 1);
  const Result<Record> content = frame.record();
  if (!content) {
    warn(log, Level::warning,
         fmt::format("{}: record {} is kept but not understood: {}", name_of(log), frame.seq,
                     content.error().message));
    return true;
  }
  if (frame.type == Type::step) ++open.new_steps;
  apply(log, id, *content);
  return true;
}

void Ingestor::apply(const LogKey& log, int64_t record, const Record& content) {
  if (const auto* start = std::get_if<Start>(&content)) {
    apply_start(log, *start);
  } else if (const auto* step = std::get_if<Step>(&content)) {
    if (!metrics_.add(log, *step)) warn_of_series(log);
    if (log.rank != 0) return;
    new_steps_.last = step->step;
    if (const auto loss = value_of(*step, kLoss)) new_steps_.loss.push_back({step->step, *loss});
    if (const auto throughput = value_of(*step, kThroughput))
      new_steps_.throughput.push_back({step->step, *throughput});
  } else if (const auto* spans = std::get_if<Spans>(&content)) {
    connection_.execute(
        "INSERT OR REPLACE INTO spans (run, step, rank, record) VALUES (?, ?, ?, ?)", log.run,
        spans->step, log.rank, record);
  } else if (const auto* line = std::get_if<Log>(&content)) {
    add_line(connection_, log.run,
             {.rank = log.rank, .time = line->time, .level = line->level, .text = line->text});
  } else if (const auto* end = std::get_if<End>(&content)) {
    apply_end(log, *end);
  } else if (const auto* plan = std::get_if<telemetry::Plan>(&content)) {
    apply_plan(log, *plan);
  }
}

void Ingestor::warn_of_series(const LogKey& log) {
  const bool told = connection_
                        .query("SELECT 1 FROM lines WHERE run = ? AND instr(text, ?) LIMIT 1",
                               log.run, kNotAllDrawn)
                        .next();
  if (told) return;
  warn(log, Level::warning,
       fmt::format("{}: {}: at most {} are, whose names have at most {} bytes", name_of(log),
                   kNotAllDrawn, kMaxSeries, kMaxNameBytes));
}

void Ingestor::apply_start(const LogKey& log, const Start& start) {
  if (log.rank == kSupervisorRank) return;
  const double time = start.time - clock_ahead(connection_, log.run);
  connection_.execute(
      "UPDATE runs SET state = 'running', started = ? WHERE id = ? AND state = 'preparing'", time,
      log.run);
  if (log.rank != 0) return;
  // The end record has the same host's clock: times of two clocks would make no duration.
  if (log.epoch == 0)
    connection_.execute("UPDATE runs SET started = ? WHERE id = ?", time, log.run);
  Values environment = values_of(start.environment);
  environment["mode"] = start.mode;
  environment["ranks"] = static_cast<double>(start.world_size);
  set_facts(connection_, log.run, "environment.", environment);
  set_facts(connection_, log.run, "results.", values_of(start.facts));
}

// Next to measured results, under names of their own.
void Ingestor::apply_plan(const LogKey& log, const telemetry::Plan& plan) {
  std::vector<std::string_view> members;
  for (const Metric& each : metrics())
    if (each.reporter == Reporter::plan) members.push_back(each.name.substr(kPredicted.size()));
  const auto document = read_json_members(plan.document, members, telemetry::kPlanDocument);
  if (!document || !document->is_object()) return;
  Values predicted;
  for (const auto& [member, value] : document->items()) {
    // 0: nobody knows how far such predictions are off.
    const bool is_known = member != "uncertain" || value > 0;
    if (value.is_number() && is_known)
      predicted[std::string(kPredicted) + member] = value.get<double>();
  }
  set_facts(connection_, log.run, "results.", predicted);
}

void Ingestor::apply_end(const LogKey& log, const End& end) {
  const std::optional<RunState> state = run_state(end.state);
  if (log.rank == kSupervisorRank) {
    if (state)
      (void)set_state(connection_, log.run, *state, end.cause,
                      end.time - clock_ahead(connection_, log.run));
    return;
  }
  if (state == RunState::failed && !end.cause.empty()) {
    add_line(connection_, log.run,
             {.rank = log.rank, .time = end.time, .level = Level::error, .text = end.cause});
  }
  if (log.rank != 0) return;
  set_facts(connection_, log.run, "results.", values_of(end.results));
  const auto exact = end.results.find("tokens_per_second_per_rank");
  if (exact == end.results.end() || !std::isfinite(exact->second)) return;
  update_summary(log);  // first: the engine's own median replaces the thinned curve's
  connection_.execute("UPDATE summaries SET tokens_per_second_per_rank = ? WHERE run = ?",
                      exact->second, log.run);
}

void Ingestor::add_gap(const LogKey& log, const Gap& gap) {
  connection_.execute(
      "INSERT OR REPLACE INTO gaps (run, rank, epoch, offset, bytes, reason) VALUES (?, ?, ?, ?, "
      "?, ?)",
      log.run, log.rank, log.epoch, gap.offset, gap.bytes, gap.reason);
  warn(log, Level::warning,
       fmt::format("{}: {} bytes from offset {} are damaged: {}", name_of(log), gap.bytes,
                   gap.offset, gap.reason));
}

void Ingestor::warn(const LogKey& log, Level level, std::string text) {
  add_line(connection_, log.run, {.rank = log.rank, .level = level, .text = std::move(text)});
}

void Ingestor::update_summary(const LogKey& log) {
  const NewSteps steps = std::exchange(new_steps_, {});
  if (!steps.last) return;
  Curve loss(kLossPoints);
  Curve throughput(kThroughputPoints, kWarmUpSteps);
  {
    Rows rows = connection_.query("SELECT loss, throughput FROM curves WHERE run = ?", log.run);
    if (!rows.next()) return;
    loss.load(rows.blob(0));
    throughput.load(rows.blob(1));
  }
  for (const Sample& each : steps.loss) loss.add(each.step, each.value);
  for (const Sample& each : steps.throughput) throughput.add(each.step, each.value);
  connection_.execute("UPDATE curves SET loss = ?, throughput = ? WHERE run = ?",
                      Blob{loss.bytes()}, Blob{throughput.bytes()}, log.run);
  const double median = throughput.median();
  connection_.execute(
      "UPDATE summaries SET steps = ?, tokens_per_second_per_rank = ? WHERE run = ?", *steps.last,
      std::isnan(median) ? std::nullopt : std::optional(median), log.run);
  if (steps.loss.empty()) return;
  const double last_loss = steps.loss.back().value;
  std::vector<float> sparkline;
  for (const Curve::Point& point : loss.points())
    sparkline.push_back(static_cast<float>(point.value));
  const int flag = nonfinite_flag(last_loss);
  connection_.execute(
      "UPDATE summaries SET loss = ?, loss_flag = ?, sparkline = ? WHERE run = ?",
      flag ? std::nullopt : std::optional(last_loss), flag,
      Blob{{reinterpret_cast<const char*>(sparkline.data()), sparkline.size() * sizeof(float)}},
      log.run);
}

}  // namespace heddle::storage
