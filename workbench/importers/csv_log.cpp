// CSV logs of training, as Lightning, Keras and many scripts write them, and Heddle's own exports:
// a row a step, a column a metric. Rows of the same step become one record; without a step column
// each row is a step. Cells may be empty. Read in two passes: where rows belong, then their
// numbers, column by column, a few thousand steps at a time.
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/read_file.h"
#include "engine/telemetry/log_reader.h"
#include "engine/telemetry/step_averages.h"
#include "workbench/importers/csv_table.h"
#include "workbench/importers/importer.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxCsvBytes = size_t{512} << 20, kMaxCsvHeaderBytes = size_t{64} << 10;
// A part's steps are a multiple of a chunk's, so that each chunk is written once.
constexpr size_t kMinSteps = 1024, kValuesAPart = size_t{1} << 18;

struct SortedRow {
  int32_t rank = 0;
  int64_t step = 0;
  double time = 0;
  size_t at = 0;
};

/// Where the rows of a log belong.
struct CsvOrder {
  std::vector<int32_t> ranks;  // with at least one row
  double begun = 0, finished = 0;
  std::vector<SortedRow> rows;  // empty: all are rank 0's, and in order

  void add_record(double time) {
    begun = std::min(begun, time);
    finished = std::max(finished, time);
  }
};

struct CsvLog {
  std::string path;
  std::string text;
  size_t body = 0;     // where the header ends
  double written = 0;  // Unix seconds
  CsvColumns columns;
  uint64_t hash = 0;
  CsvOrder order = {};

  std::string_view rows() const { return std::string_view(text).substr(body); }
  CsvReader reader(size_t wanted) const { return {rows(), columns.names.size(), wanted}; }
};

double written_at(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? static_cast<double>(status.st_mtime) : 0;
}

Result<CsvLog> open_csv(const std::string& path) {
  auto text = read_file(path, kMaxCsvBytes);
  if (!text) return fail(text);
  std::string_view rest = *text;
  CsvColumns columns(rest);
  if (!columns.has_loss()) return fail("{}: no column is a loss; valid: loss, val_loss …", path);
  const size_t body = text->size() - rest.size();
  const uint64_t hash = XXH3_64bits(text->data(), text->size());
  return CsvLog{path, std::move(*text), body, written_at(path), std::move(columns), hash};
}

/// How many leading columns are needed to tell where a row belongs.
size_t columns_of_places(const CsvColumns& columns) {
  size_t wanted = 1;  // enough to detect an empty row
  for (const auto& column : {columns.step, columns.rank, columns.time})
    if (column) wanted = std::max(wanted, *column + 1);
  return wanted;
}

/// Sorts the rows, and notes ranks and times.
void sort_rows(CsvOrder& order) {
  auto& rows = order.rows;
  const auto key = [](const SortedRow& row) { return std::tuple(row.rank, row.step); };
  std::ranges::stable_sort(rows, {}, key);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].rank != rows[i - 1].rank) order.ranks.push_back(rows[i].rank);
    if (i + 1 == rows.size() || key(rows[i]) != key(rows[i + 1])) order.add_record(rows[i].time);
  }
}

/// `sorts`: keeps the rows and sorts them. Starts again with it if they are out of order.
Result<CsvOrder> read_order(const CsvLog& log, bool sorts = false) {
  CsvOrder order;
  order.begun = log.written;
  CsvReader reader = log.reader(columns_of_places(log.columns));
  CsvPlaces places(log.columns, log.path);
  std::optional<SortedRow> last;
  while (const CsvRow* row = reader.next()) {
    if (row->cells == 0) {
      places.pass();
      continue;
    }
    const Result<CsvPlace> place = places.place_of(reader, *row);
    if (!place) return fail(place);
    const SortedRow now{place->rank, place->step, place->time.value_or(log.written), row->at};
    if (sorts) {
      order.rows.push_back(now);
      continue;
    }
    if (now.rank != 0 || (last && now.step < last->step)) return read_order(log, true);
    if (last && now.step != last->step) order.add_record(last->time);
    last = now;
  }
  if (sorts) sort_rows(order);
  if (last) {
    order.add_record(last->time);
    order.ranks = {0};
  }
  if (order.ranks.empty() || order.ranks.front() != 0)
    return fail("{}: no row has numbers", log.path);
  return order;
}

/// A CSV's NaN may have a sign; a record's has none.
double as_recorded(double number) {
  return std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number;
}

/// One rank's step records, in order.
class CsvSteps {
 public:
  CsvSteps(std::shared_ptr<const CsvLog> log, int32_t rank)
      : log_(std::move(log)),
        reader_(log_->reader(log_->columns.names.size())),
        places_(log_->columns, log_->path) {
    const auto& names = log_->columns.names;
    const std::set<std::string> sorted(names.begin(), names.end());
    for (const std::string& name : sorted)
      if (!name.empty()) metrics_.push_back({name, {}, {}});
    for (size_t i = 0; i < names.size(); ++i)
      if (!names[i].empty())
        sources_.emplace_back(
            i, std::ranges::find(metrics_, names[i], &storage::StepColumns::Metric::name) -
                   metrics_.begin());
    const auto of_rank = std::ranges::equal_range(log_->order.rows, rank, {}, &SortedRow::rank);
    next_ = static_cast<size_t>(of_rank.begin() - log_->order.rows.begin());
    end_ = next_ + of_rank.size();
  }

  /// The next few thousand; none: the end.
  Result<storage::StepColumns> next(uint64_t first_seq) {
    const size_t some = std::max<size_t>(1, kValuesAPart / kMinSteps / metrics_.size()) * kMinSteps;
    storage::StepColumns columns{first_seq, {}, {}, metrics_};
    auto& steps = columns.steps;
    for (;; row_ = nullptr) {
      if (!row_)
        if (Result<> moved = move_on(); !moved) return fail(moved);
      if (!row_) break;
      if (steps.empty() || steps.back() != step_) {
        if (steps.size() == some) break;
        steps.push_back(step_);
        columns.times.push_back(0);
      }
      columns.times.back() = as_recorded(time_);
      put_values(static_cast<uint32_t>(steps.size() - 1), columns.metrics);
    }
    std::erase_if(columns.metrics, [](const auto& metric) { return metric.rows.empty(); });
    return columns;
  }

  /// The values that gave way to later ones of their step, since the last call.
  size_t take_replaced() { return std::exchange(replaced_, 0); }

 private:
  /// Moves to the rank's next row.
  Result<> move_on() {
    const auto& rows = log_->order.rows;
    if (!rows.empty()) {
      if (next_ == end_) return {};
      const SortedRow& row = rows[next_++];
      reader_.go_to(row.at);
      row_ = reader_.next();
      step_ = row.step;
      time_ = row.time;
      return {};
    }
    while ((row_ = reader_.next()) && row_->cells == 0) places_.pass();
    if (!row_) return {};
    const Result<CsvPlace> place = places_.place_of(reader_, *row_);
    if (!place) return fail(place);
    step_ = place->step;
    time_ = place->time.value_or(log_->written);
    return {};
  }

  /// A later row of the same step, and a later column of the same name, win.
  void put_values(uint32_t row, std::vector<storage::StepColumns::Metric>& metrics) {
    for (const auto& [column, metric] : sources_) {
      const std::optional<double>& number = row_->numbers[column];
      if (!number) continue;
      auto& [name, rows, values] = metrics[static_cast<size_t>(metric)];
      if (rows.empty() || rows.back() != row) {
        rows.push_back(row);
        values.push_back(0);
      } else {
        ++replaced_;
      }
      values.back() = as_recorded(*number);
    }
  }

  std::shared_ptr<const CsvLog> log_;
  CsvReader reader_;
  CsvPlaces places_;
  std::vector<storage::StepColumns::Metric> metrics_;       // their names; no values
  std::vector<std::pair<size_t, std::ptrdiff_t>> sources_;  // columns and their metrics
  size_t next_ = 0, end_ = 0;                               // indices of log_->order.rows
  const CsvRow* row_ = nullptr;                             // the next one
  int64_t step_ = 0;                                        // row_'s
  double time_ = 0;
  size_t replaced_ = 0;
};

/// A rank's results, as in the end records of Heddle's own runs.
class CsvResults {
 public:
  void add(const storage::StepColumns& columns) {
    for (const auto& [name, rows, values] : columns.metrics) {
      averages_.add(name, values);
      names_.insert(name);
      if (name == "loss") results_["last_loss"] = values.back();
    }
  }
  std::map<std::string, double> take() {
    for (const std::string& name : names_)
      if (const auto average = averages_.average(name)) results_[name] = *average;
    return std::move(results_);
  }

 private:
  telemetry::StepAverages averages_;
  std::set<std::string> names_;
  std::map<std::string, double> results_;
};

/// The first record: the same for a file and for copies that keep its modification time.
telemetry::Start start_of(const CsvLog& log, int32_t rank, size_t ranks, double begun) {
  return {.time = begun,
          .rank = rank,
          .world_size = static_cast<int32_t>(ranks),
          .mode = "imported",
          .environment = {{"csv_hash", fmt::format("{:016x}", log.hash)}},
          .facts = {}};
}

/// A rank's log: its first record, its steps, its last record.
class CsvParts {
 public:
  CsvParts(std::shared_ptr<const CsvLog> log, int32_t rank)
      : log_(log), rank_(rank), steps_(std::move(log), rank) {}

  Result<storage::LogPart> next() {
    if (seq_ == 0) {
      const CsvOrder& order = log_->order;
      return frame(start_of(*log_, rank_, order.ranks.size(), order.begun));
    }
    if (ended_) return std::string();
    Result<storage::StepColumns> columns = steps_.next(seq_);
    if (!columns) return fail(columns);
    if (columns->steps.empty()) {
      if (const size_t replaced = steps_.take_replaced(); replaced > 0)
        return frame(telemetry::Log{
            finished_, telemetry::Level::warning,
            fmt::format("{} values are left out: later rows have others for the same step",
                        replaced)});
      ended_ = true;
      return frame(telemetry::End{finished_, "done", "", results_.take()});
    }
    seq_ += columns->steps.size();
    finished_ = columns->times.back();
    results_.add(*columns);
    return std::move(*columns);
  }

 private:
  Result<storage::LogPart> frame(const telemetry::Record& record) {
    Result<std::string> frame = telemetry::encode(record, seq_++);
    if (!frame) return fail(frame);
    return std::move(*frame);
  }

  std::shared_ptr<const CsvLog> log_;
  int32_t rank_;
  CsvSteps steps_;
  CsvResults results_;
  uint64_t seq_ = 0;
  double finished_ = 0;
  bool ended_ = false;
};

bool recognise_csv(const std::string& path) {
  if (!path.ends_with(".csv")) return false;
  const auto beginning = read_part(path, 0, kMaxCsvHeaderBytes);
  if (!beginning) return false;
  std::string_view text = *beginning;
  return CsvColumns(text).has_loss();
}

std::optional<uint64_t> identify_csv(const std::string& path) {
  const Result<CsvLog> log = open_csv(path);
  if (!log) return std::nullopt;
  size_t ranks = 1;
  double begun = log->written;
  if (log->columns.rank || log->columns.time) {
    const Result<CsvOrder> order = read_order(*log);
    if (!order) return std::nullopt;
    ranks = order->ranks.size();
    begun = order->begun;
  }
  const auto frame = telemetry::encode(start_of(*log, 0, ranks, begun), 0);
  if (!frame) return std::nullopt;
  telemetry::LogReader reader;
  reader.feed(*frame);
  const auto event = reader.next();
  if (!event || !std::holds_alternative<telemetry::Frame>(*event)) return std::nullopt;
  return std::get<telemetry::Frame>(*event).checksum;
}

/// The file's name, or its folder's where the file has the usual name metrics.csv.
std::string name_of_csv(const fs::path& path) {
  const bool says_nothing = path.stem() == "metrics" && path.parent_path().has_filename();
  return says_nothing ? path.parent_path().filename() : path.stem();
}

Result<ForeignRun> read_csv(const std::string& path) {
  Result<CsvLog> opened = open_csv(path);
  if (!opened) return fail(opened);
  Result<CsvOrder> order = read_order(*opened);
  if (!order) return fail(order);
  opened->order = std::move(*order);
  const auto log = std::make_shared<const CsvLog>(std::move(*opened));
  ForeignRun run;
  run.name = name_of_csv(path);
  run.state = storage::RunState::done;
  run.created = log->order.begun;
  run.finished = log->order.finished;
  for (const int32_t rank : log->order.ranks)
    run.logs.push_back(
        {path, rank, 0, [parts = std::make_shared<CsvParts>(log, rank)] { return parts->next(); }});
  return run;
}

}  // namespace

extern const Importer kCsvLog{"*.csv with a column loss", "a CSV log of training, a row a step",
                              recognise_csv, identify_csv, read_csv};

}  // namespace heddle::workbench
