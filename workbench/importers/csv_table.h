// A table as text (RFC 4180): its column names, then its numbers row by row. A row of plain cells
// is read in place; a row with quotes is first split into a list of cells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::workbench {

/// The columns by their names. A second column for the same metric keeps its own name.
struct CsvColumns {
  std::vector<std::string> names;  // empty: the column is no metric
  std::optional<size_t> step, time, rank;

  /// Takes the header off the text.
  explicit CsvColumns(std::string_view& text);
  bool has_loss() const;
};

/// A row's numbers.
struct CsvRow {
  size_t at = 0;                               // its first byte
  size_t cells = 0;                            // how many it has; 0: the row is empty
  std::vector<std::optional<double>> numbers;  // by column; nothing: no such cell, or words
};

/// Reads rows of a text, which outlives it.
class CsvReader {
 public:
  /// `columns`: how many the table has. Only the first `wanted` cells of a row are read.
  CsvReader(std::string_view text, size_t columns, size_t wanted)
      : text_(text),
        wanted_(wanted),
        row_{.numbers = std::vector<std::optional<double>>(columns)} {}

  /// The next row, valid until the next call; null: the end.
  const CsvRow* next();
  /// Continues with the row that begins there.
  void go_to(size_t at) { at_ = at; }
  /// A cell's text in the row that was read last.
  std::string cell(size_t column) const;

 private:
  bool read_plain();
  void read_quoted();

  std::string_view text_;
  size_t wanted_;
  size_t at_ = 0;
  CsvRow row_;
};

/// Where a row belongs.
struct CsvPlace {
  int32_t rank = 0;
  int64_t step = 0;
  std::optional<double> time;
};

/// Finds where rows belong. Rows are passed in the order of the file.
class CsvPlaces {
 public:
  CsvPlaces(const CsvColumns& columns, std::string path)
      : columns_(columns), path_(std::move(path)) {}
  /// Errors name the line.
  Result<CsvPlace> place_of(const CsvReader& reader, const CsvRow& row);
  /// Skips an empty row.
  void pass() { ++line_; }

 private:
  Result<std::optional<double>> number(const CsvReader& reader, const CsvRow& row,
                                       std::optional<size_t> column, const char* what) const;
  int64_t& newest(int32_t rank);

  const CsvColumns& columns_;
  std::string path_;
  int64_t line_ = 1;                                 // of the previous row
  std::vector<std::pair<int32_t, int64_t>> newest_;  // step, by rank
};

}  // namespace heddle::workbench
