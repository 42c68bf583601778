#include "engine/published/rows.h"

#include <charconv>
#include <sstream>

namespace heddle::published {
namespace {

constexpr std::string_view kHeader =
    "model,dim,layers,ffn,hardware,ranks,seq,micro_batch,tp,pp,cp,recompute,precision,"
    "tokens_s_gpu,framework,source";

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(std::move(cell));
  return cells;
}

// One line's cells, from the first to the last; keeps the first fault.
class Cells {
 public:
  explicit Cells(std::vector<std::string> cells) : cells_(std::move(cells)) {}

  void operator()(std::string& member) { member = next(); }
  template <typename T>
  void operator()(T& member) {
    const std::string cell = next();
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), member);
    if ((error != std::errc() || end != cell.data() + cell.size() || member <= 0) && fault_.empty())
      fault_ = fmt::format("column {}: \"{}\" is no number above 0", at_, cell);
  }

  std::string fault() const {
    if (!fault_.empty()) return fault_;
    if (cells_.size() != at_) return fmt::format("{} columns; needed: {}", cells_.size(), at_);
    return {};
  }

 private:
  std::string next() {
    const size_t at = at_++;
    return at < cells_.size() ? cells_[at] : std::string();
  }

  std::vector<std::string> cells_;
  size_t at_ = 0;
  std::string fault_;
};

}  // namespace

Result<std::vector<Row>> read_rows(std::string_view table) {
  std::istringstream lines{std::string(table)};
  std::string line;
  if (!std::getline(lines, line) || line != kHeader)
    return fail("line 1: the header is not {}", kHeader);
  std::vector<Row> rows;
  for (int number = 2; std::getline(lines, line); ++number) {
    Row row;
    Cells cell(cells_of(line));
    cell(row.model);
    for (int64_t* member : {&row.dim, &row.layers, &row.ffn}) cell(*member);
    cell(row.hardware);
    for (int64_t* member : {&row.ranks, &row.seq_len, &row.micro_batch, &row.tp, &row.pp, &row.cp})
      cell(*member);
    cell(row.recompute);
    cell(row.precision);
    cell(row.tokens_per_second_per_rank);
    cell(row.framework);
    cell(row.source);
    if (const std::string fault = cell.fault(); !fault.empty())
      return fail("line {}: {}", number, fault);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace heddle::published
