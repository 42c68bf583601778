// The virtual tables of SQL read: samples as charts show them, spans as they were recorded.
#include <algorithm>
#include <array>
#include <utility>

#include "storage/series.h"
#include "storage/sql_tables.h"

namespace heddle::storage {
namespace {

constexpr size_t kWindows = 64;
constexpr uint64_t kSamplesAPage = 50'000;

constexpr std::array kStreams = {"compute", "communication", "wait", "bubble"};
constexpr std::array kSpanPhases = {"forward", "backward", "optimizer"};

SqlValue name_in(const auto& names, size_t index) {
  if (index < names.size()) return std::string(names[index]);
  return static_cast<int64_t>(index);
}

std::optional<double> bound(const std::optional<int64_t>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

/// run, rank, metric, step, value.
class StepPages : public SqlPages {
 public:
  StepPages(Connection& connection, const SqlBounds& bounds)
      : connection_(connection), range_{bounds.first_step, bounds.last_step} {
    Rows rows = connection.query(
        "SELECT series.run, logs.rank, series.name FROM series JOIN (SELECT DISTINCT run, rank "
        "FROM "
        "logs WHERE rank >= 0) AS logs ON logs.run = series.run WHERE (?1 IS NULL OR series.run = "
        "?1) AND (?2 IS NULL OR logs.rank = ?2) ORDER BY series.run, series.name, logs.rank",
        bound(bounds.run), bound(bounds.rank));
    while (rows.next()) {
      Of of{rows.integer(0), static_cast<int32_t>(rows.integer(1)), rows.text(2)};
      if (!bounds.metric || *bounds.metric == of.metric) all_.push_back(std::move(of));
    }
    std::ranges::reverse(all_);
  }

  std::vector<SqlRow> next() override {
    while (windows_.empty()) {
      if (all_.empty()) return {};
      current_ = std::move(all_.back());
      all_.pop_back();
      uint64_t samples = kSamplesAPage;
      for (const Bin& bin : read(range_, kWindows)) {
        if (samples + bin.count > kSamplesAPage) {
          windows_.push_back({bin.first_step, bin.last_step});
          samples = 0;
        }
        windows_.back().last = bin.last_step;
        samples += bin.count;
      }
      std::ranges::reverse(windows_);
    }
    const StepRange window = windows_.back();
    windows_.pop_back();
    std::vector<SqlRow> rows;
    for (const Bin& sample : read(window, 0))
      rows.push_back(
          {current_.run, int64_t{current_.rank}, current_.metric, sample.last_step, sample.last});
    return rows;
  }

 private:
  struct Of {
    RunId run = 0;
    int32_t rank = 0;
    std::string metric;
  };
  std::vector<Bin> read(StepRange range, size_t points) {
    return read_chart(connection_, current_.run, current_.metric, current_.rank, range, points);
  }

  Connection& connection_;
  StepRange range_;
  std::vector<Of> all_;  // still to come, the next one last
  Of current_;
  std::vector<StepRange> windows_;  // of the current one, the next one last
};

/// run, step, rank, name, module, phase, stream, start_us, duration_us.
class SpanPages : public SqlPages {
 public:
  SpanPages(Connection& connection, const SqlBounds& bounds) : connection_(connection) {
    Rows rows = connection.query(
        "SELECT run, step, rank, record FROM main.spans WHERE (?1 IS NULL OR run = ?1) AND (?2 IS "
        "NULL OR rank = ?2) AND step BETWEEN ?3 AND ?4 ORDER BY run DESC, step DESC, rank DESC",
        bound(bounds.run), bound(bounds.rank), bounds.first_step, bounds.last_step);
    while (rows.next())
      all_.push_back({rows.integer(0), rows.integer(1), rows.integer(2), rows.integer(3)});
  }

  std::vector<SqlRow> next() override {
    std::vector<SqlRow> page;
    while (page.empty() && !all_.empty()) {
      const Of of = all_.back();
      all_.pop_back();
      Rows rows =
          connection_.query("SELECT payload FROM records WHERE id = ? AND type = 3", of.record);
      if (!rows.next()) continue;
      const auto record = telemetry::decode(telemetry::Type::spans, rows.blob(0));
      if (!record) continue;
      for (const telemetry::Span& span : std::get<telemetry::Spans>(*record).spans)
        page.push_back({of.run, of.step, of.rank, span.name, span.module,
                        name_in(kSpanPhases, span.phase), name_in(kStreams, span.stream),
                        span.start_us, span.duration_us});
    }
    return page;
  }

 private:
  struct Of {
    int64_t run = 0, step = 0, rank = 0, record = 0;
  };
  Connection& connection_;
  std::vector<Of> all_;  // still to come, the next one last
};

}  // namespace

const SqlTable kSqlSteps{
    "heddle_steps",
    "CREATE TABLE x (run INTEGER, rank INTEGER, metric TEXT, step INTEGER, value REAL)",
    0,
    1,
    3,
    2,
    [](Connection& connection, const SqlBounds& bounds) -> std::unique_ptr<SqlPages> {
      return std::make_unique<StepPages>(connection, bounds);
    }};

const SqlTable kSqlSpans{
    "heddle_spans",
    "CREATE TABLE x (run INTEGER, step INTEGER, rank INTEGER, name TEXT, module TEXT, phase TEXT, "
    "stream TEXT, start_us INTEGER, duration_us INTEGER)",
    0,
    2,
    1,
    -1,
    [](Connection& connection, const SqlBounds& bounds) -> std::unique_ptr<SqlPages> {
      return std::make_unique<SpanPages>(connection, bounds);
    }};

}  // namespace heddle::storage
