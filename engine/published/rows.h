// Published rows: a model on hardware in a layout, and its tokens a second.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::published {

/// As resources/published/rows.csv has them.
struct Row {
  std::string model;
  int64_t dim = 0, layers = 0, ffn = 0;
  std::string hardware;  // of the catalogue
  int64_t ranks = 0, seq_len = 0, micro_batch = 0;
  int64_t tp = 0, pp = 0, cp = 0;
  std::string recompute, precision;
  double tokens_per_second_per_rank = 0;
  std::string framework, source;
};

/// A table with a header and these columns in this order, no quotes. An error names line and
/// column.
Result<std::vector<Row>> read_rows(std::string_view table);

/// The text of the table that ships with Heddle.
const char* built_in();

}  // namespace heddle::published
