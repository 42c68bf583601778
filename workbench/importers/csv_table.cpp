#include "workbench/importers/csv_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "engine/telemetry/metrics.h"

namespace heddle::workbench {
namespace {

constexpr std::array<std::string_view, 5> kSteps = {"step", "global_step", "iteration", "iter",
                                                    "_step"};
constexpr std::array<std::string_view, 3> kTimes = {"time", "timestamp", "_timestamp"};
constexpr std::string_view kRank = "rank";

using Cells = std::vector<std::string>;

/// The cells of the row at `at`. Moves `at` to the next row.
Cells take_cells(std::string_view text, size_t& at) {
  Cells cells(1);
  bool quoted = false;
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
  at = std::min(at + 1, text.size());
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

/// The end of a plain cell; null: it is not plain.
const char* end_of_cell(const char* from, const char* end) {
  for (; from < end && *from != ',' && *from != '\n'; ++from) {
    if (*from == '"') return nullptr;
    if (*from == '\r' && from + 1 < end && from[1] != '\n') return nullptr;
    if (*from == '\r') break;
  }
  return from;
}

bool ends_cell(const char* at, const char* end) {
  return at == end || *at == ',' || *at == '\n' || *at == '\r';
}

}  // namespace

CsvColumns::CsvColumns(std::string_view& text) {
  size_t end = 0;
  const Cells header = take_cells(text, end);
  text.remove_prefix(end);
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

bool CsvColumns::has_loss() const {
  return std::ranges::any_of(
      names, [](const std::string& name) { return telemetry::metric(name).unit == Unit::loss; });
}

const CsvRow* CsvReader::next() {
  if (at_ >= text_.size()) return nullptr;
  row_.at = at_;
  if (!read_plain()) read_quoted();
  return &row_;
}

/// False if the row is not plain; nothing is read then.
bool CsvReader::read_plain() {
  const char *at = text_.data() + at_, *const end = text_.data() + text_.size();
  size_t column = 0;
  for (;; ++column, ++at) {
    if (column == wanted_) break;
    std::optional<double> number;
    if (!ends_cell(at, end)) {
      double value = 0;
      const auto read = std::from_chars(at, end, value);
      if (read.ec == std::errc() && ends_cell(read.ptr, end)) {
        number = value;
        at = read.ptr;
      } else {
        const char* cell_end = end_of_cell(at, end);
        if (!cell_end) return false;
        number = number_in_cell({at, static_cast<size_t>(cell_end - at)});
        at = cell_end;
      }
    }
    if (at < end && *at == '\r') {
      if (at + 1 < end && at[1] != '\n') return false;
      ++at;
    }
    row_.numbers[column] = number;
    if (at == end || *at == '\n') break;
  }
  const bool all = column < wanted_;
  if (!all) {
    const auto* next =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
    if (!next) next = end;
    if (std::memchr(at, '"', static_cast<size_t>(next - at))) return false;
    at = next;
  }
  for (size_t rest = column + (all ? 1 : 0); rest < row_.numbers.size(); ++rest)
    row_.numbers[rest].reset();
  const size_t bytes = static_cast<size_t>(at - text_.data()) - at_;
  const bool is_empty = all && column == 0 && (bytes == 0 || (bytes == 1 && at[-1] == '\r'));
  row_.cells = is_empty ? 0 : column + 1;
  at_ += bytes + (at < end ? 1 : 0);
  return true;
}

void CsvReader::read_quoted() {
  const Cells cells = take_cells(text_, at_);
  row_.cells = cells.size() == 1 && cells[0].empty() ? 0 : cells.size();
  for (size_t i = 0; i < row_.numbers.size(); ++i)
    row_.numbers[i] = i < cells.size() ? number_in_cell(cells[i]) : std::nullopt;
}

std::string CsvReader::cell(size_t column) const {
  size_t at = row_.at;
  const Cells cells = take_cells(text_, at);
  return column < cells.size() ? cells[column] : std::string();
}

Result<std::optional<double>> CsvPlaces::number(const CsvReader& reader, const CsvRow& row,
                                                std::optional<size_t> column,
                                                const char* what) const {
  if (!column) return std::nullopt;
  if (const auto& number = row.numbers[*column]) return number;
  const std::string cell = reader.cell(*column);
  if (cell.empty()) return std::nullopt;
  return fail("{}:{}: the {} \"{}\" is not a number", path_, line_, what, cell);
}

int64_t& CsvPlaces::newest(int32_t rank) {
  const auto found =
      std::ranges::lower_bound(newest_, rank, {}, [](const auto& each) { return each.first; });
  if (found != newest_.end() && found->first == rank) return found->second;
  return newest_.insert(found, {rank, 0})->second;
}

Result<CsvPlace> CsvPlaces::place_of(const CsvReader& reader, const CsvRow& row) {
  ++line_;
  const auto step = number(reader, row, columns_.step, "step");
  if (!step) return fail(step);
  const auto rank = number(reader, row, columns_.rank, "rank");
  if (!rank) return fail(rank);
  CsvPlace place;
  // A row that is too short ends with its time.
  if (columns_.time) place.time = row.numbers[std::min(*columns_.time, row.cells - 1)];
  const double of_rank = rank->value_or(0);
  if (!(of_rank >= 0 && of_rank < 1e6))
    return fail("{}:{}: no rank {}; valid: 0 to 999999", path_, line_, of_rank);
  place.rank = static_cast<int32_t>(of_rank);
  int64_t& last = newest(place.rank);
  const double of_step = step->value_or(static_cast<double>(columns_.step ? last : last + 1));
  if (!(of_step >= 0 && of_step < 1e15))
    return fail("{}:{}: no step {}; valid: 0 or more", path_, line_, of_step);
  place.step = last = static_cast<int64_t>(of_step);
  return place;
}

}  // namespace heddle::workbench
