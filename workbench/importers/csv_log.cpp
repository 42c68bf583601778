// CSV logs of training, as Lightning, Keras and many scripts write them, and Heddle's own exports:
// a row a step, a column a metric. Rows of the same step become one record; without a step column
// each row is a step. Cells may be empty.
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "base/read_file.h"
#include "engine/telemetry/log_reader.h"
#include "engine/telemetry/metrics.h"
#include "engine/telemetry/step_averages.h"
#include "workbench/importers/importer.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxCsvBytes = size_t{512} << 20, kMaxCsvHeaderBytes = size_t{64} << 10;
constexpr size_t kStepsAPiece = 2000;
constexpr std::array<std::string_view, 5> kSteps = {"step", "global_step", "iteration", "iter",
                                                    "_step"};
constexpr std::array<std::string_view, 3> kTimes = {"time", "timestamp", "_timestamp"};
constexpr std::string_view kRank = "rank";

using Cells = std::vector<std::string>;

/// Takes the next line's cells off the text, as RFC 4180 has them.
Cells take_cells(std::string_view& text) {
  Cells cells(1);
  bool quoted = false;
  size_t at = 0;
  for (; at < text.size() && (quoted || text[at] != '\n'); ++at) {
    const char c = text[at];
    if (c == '"') {
      const bool doubled = quoted && at + 1 < text.size() && text[at + 1] == '"';
      if (doubled)
        cells.back() += text[++at];
      else
        quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  return cells;
}

std::optional<double> number_in_cell(std::string_view cell) {
  while (cell.starts_with(' ')) cell.remove_prefix(1);
  while (cell.ends_with(' ')) cell.remove_suffix(1);
  double number = 0;
  const auto read = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == cell.data() + cell.size();
  return whole && !cell.empty() ? std::optional(number) : std::nullopt;
}

/// The columns by their names. A second column for the same metric keeps its own name.
struct Columns {
  std::vector<std::string> names;  // empty: the column is no metric
  std::optional<size_t> step, time, rank;

  explicit Columns(const Cells& header) {
    for (size_t i = 0; i < header.size(); ++i) {
      std::string name = header[i];
      if (i == 0 && name.starts_with("\xEF\xBB\xBF")) name.erase(0, 3);
      if (!step && std::ranges::find(kSteps, name) != kSteps.end()) {
        step = i;
        name.clear();
      } else if (!time && std::ranges::find(kTimes, name) != kTimes.end()) {
        time = i;
        name.clear();
      } else if (!rank && name == kRank) {
        rank = i;
        name.clear();
      } else if (const auto known = telemetry::foreign_metric(name).name;
                 !known.empty() && std::ranges::find(names, known) == names.end()) {
        name = known;
      }
      names.push_back(name);
    }
  }
  bool has_loss() const {
    return std::ranges::any_of(
        names, [](const std::string& name) { return telemetry::metric(name).unit == Unit::loss; });
  }
};

/// The steps of each rank, in order.
using Steps = std::map<int32_t, std::map<int64_t, telemetry::Step>>;

Result<std::optional<double>> cell_of(const Cells& cells, std::optional<size_t> column,
                                      const char* what, const std::string& where) {
  if (!column || *column >= cells.size() || cells[*column].empty()) return std::nullopt;
  const auto number = number_in_cell(cells[*column]);
  if (!number) return fail("{}: the {} \"{}\" is no number", where, what, cells[*column]);
  return number;
}

Result<Steps> steps_in(const std::string& path, std::string_view text, double time) {
  const Columns columns(take_cells(text));
  if (!columns.has_loss()) return fail("{}: no column is a loss; valid: loss, val_loss …", path);
  Steps steps;
  std::map<int32_t, int64_t> newest;
  for (int64_t line = 2; !text.empty(); ++line) {
    const Cells cells = take_cells(text);
    if (cells.size() == 1 && cells[0].empty()) continue;
    const std::string where = fmt::format("{}:{}", path, line);
    const auto step = cell_of(cells, columns.step, "step", where);
    if (!step) return fail(step);
    const auto rank = cell_of(cells, columns.rank, "rank", where);
    if (!rank) return fail(rank);
    const auto at = columns.time ? number_in_cell(cells[std::min(*columns.time, cells.size() - 1)])
                                 : std::nullopt;
    const double of_rank = rank->value_or(0);
    if (!(of_rank >= 0 && of_rank < 1e6))
      return fail("{}: no rank {}; valid: 0 to 999999", where, of_rank);
    int64_t& last = newest[static_cast<int32_t>(of_rank)];
    const double number = step->value_or(static_cast<double>(columns.step ? last : last + 1));
    if (!(number >= 0 && number < 1e15))
      return fail("{}: no step {}; valid: 0 or more", where, number);
    last = static_cast<int64_t>(number);
    telemetry::Step& record = steps[static_cast<int32_t>(of_rank)][last];
    record.step = last;
    record.time = at.value_or(time);
    for (size_t i = 0; i < std::min(cells.size(), columns.names.size()); ++i)
      if (const auto value = number_in_cell(cells[i]); value && !columns.names[i].empty())
        record.values[columns.names[i]] = *value;
  }
  if (steps.empty() || !steps.contains(0)) return fail("{}: it has no row of numbers", path);
  return steps;
}

/// Rank 0's results, as the end records of Heddle's own runs have them.
std::map<std::string, double> results_of(const std::map<int64_t, telemetry::Step>& steps) {
  telemetry::StepAverages averages;
  std::map<std::string, double> results;
  for (const auto& [step, record] : steps)
    for (const auto& [name, value] : record.values) {
      averages.add(name, value);
      if (name == "loss") results["last_loss"] = value;
      if (const auto average = averages.average(name)) results[name] = *average;
    }
  return results;
}

double written_at(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? static_cast<double>(status.st_mtime) : 0;
}

/// The first record: the same for a file and for copies that keep its modification time.
telemetry::Start start_of(const std::string& text, int32_t rank, int32_t ranks, double time) {
  return {
      .time = time,
      .rank = rank,
      .world_size = ranks,
      .mode = "imported",
      .environment = {{"csv_hash", fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()))}},
      .facts = {}};
}

/// The frames of a rank's log, some steps at a time.
class CsvFrames {
 public:
  CsvFrames(telemetry::Start start, std::map<int64_t, telemetry::Step> steps)
      : start_(std::move(start)), steps_(std::move(steps)), at_(steps_.begin()) {}

  Result<std::string> next() {
    std::string frames;
    if (seq_ == 0)
      if (const Result<> added = add(frames, start_); !added) return fail(added);
    for (size_t i = 0; i < kStepsAPiece && at_ != steps_.end(); ++i, ++at_)
      if (const Result<> added = add(frames, at_->second); !added) return fail(added);
    if (at_ != steps_.end() || std::exchange(ended_, true)) return frames;
    const telemetry::End end{steps_.rbegin()->second.time, "done", "", results_of(steps_)};
    if (const Result<> added = add(frames, end); !added) return fail(added);
    return frames;
  }

 private:
  Result<> add(std::string& frames, const telemetry::Record& record) {
    const Result<std::string> frame = telemetry::encode(record, seq_++);
    if (!frame) return fail(frame);
    frames += *frame;
    return {};
  }

  telemetry::Start start_;
  std::map<int64_t, telemetry::Step> steps_;
  std::map<int64_t, telemetry::Step>::const_iterator at_;
  uint64_t seq_ = 0;
  bool ended_ = false;
};

bool recognise_csv(const std::string& path) {
  if (!path.ends_with(".csv")) return false;
  const auto beginning = read_part(path, 0, kMaxCsvHeaderBytes);
  if (!beginning) return false;
  std::string_view text = *beginning;
  return Columns(take_cells(text)).has_loss();
}

struct CsvRun {
  std::string text;
  Steps steps;
  double begun = 0, finished = 0;
};

Result<CsvRun> csv_run(const std::string& path) {
  auto text = read_file(path, kMaxCsvBytes);
  if (!text) return fail(text);
  const double written = written_at(path);
  auto steps = steps_in(path, *text, written);
  if (!steps) return fail(steps);
  CsvRun run{std::move(*text), std::move(*steps), written, 0};
  for (const auto& [rank, of_rank] : run.steps)
    for (const auto& [step, record] : of_rank) {
      run.begun = std::min(run.begun, record.time);
      run.finished = std::max(run.finished, record.time);
    }
  return run;
}

std::optional<uint64_t> identify_csv(const std::string& path) {
  const Result<CsvRun> run = csv_run(path);
  if (!run) return std::nullopt;
  const auto frame = telemetry::encode(
      start_of(run->text, 0, static_cast<int32_t>(run->steps.size()), run->begun), 0);
  if (!frame) return std::nullopt;
  telemetry::LogReader log;
  log.feed(*frame);
  const auto event = log.next();
  if (!event || !std::holds_alternative<telemetry::Frame>(*event)) return std::nullopt;
  return std::get<telemetry::Frame>(*event).checksum;
}

/// The file's name, or its folder's where the file has the usual name metrics.csv.
std::string name_of_csv(const fs::path& path) {
  const bool says_nothing = path.stem() == "metrics" && path.parent_path().has_filename();
  return says_nothing ? path.parent_path().filename() : path.stem();
}

Result<ForeignRun> read_csv(const std::string& path) {
  Result<CsvRun> read = csv_run(path);
  if (!read) return fail(read);
  ForeignRun run;
  run.name = name_of_csv(path);
  run.state = storage::RunState::done;
  run.finished = read->finished;
  const auto ranks = static_cast<int32_t>(read->steps.size());
  for (auto& [rank, steps] : read->steps)
    run.logs.push_back(
        {path, rank, 0,
         [frames = std::make_shared<CsvFrames>(start_of(read->text, rank, ranks, read->begun),
                                               std::move(steps))] { return frames->next(); }});
  return run;
}

}  // namespace

extern const Importer kCsvLog{"*.csv with a column loss", "a CSV log of training, a row a step",
                              recognise_csv, identify_csv, read_csv};

}  // namespace heddle::workbench
