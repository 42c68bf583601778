// SQL over a store, for people and their notebooks: one statement that reads, over the views that
// docs/sql.md describes. Whatever the statement, nothing is written and no other file is opened.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace heddle::storage {

/// Nothing, a number, or words. A blob is its hexadecimal digits.
using SqlValue = std::variant<std::monostate, int64_t, double, std::string>;
using SqlRow = std::vector<SqlValue>;

/// Where the rows of a statement go.
struct SqlOutput {
  std::function<void(const std::vector<std::string>& names)> columns;  // first, once
  std::function<void(SqlRow row)> row;
  /// Asked now and then: whether to end.
  std::function<bool()> is_stopped = [] { return false; };
};

Result<> run_sql(const std::string& store, const std::string& statement, const SqlOutput& output);

}  // namespace heddle::storage
