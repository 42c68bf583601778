// The interface of libheddle_parquet.so, looked up by name after dlopen: Apache Arrow, its
// exceptions and its memory stay inside.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::data {

inline constexpr const char* kParquetPlugin = "libheddle_parquet.so";

/// A column of text, row by row. One thread. Errors say nothing of the path.
class ParquetColumn {
 public:
  virtual ~ParquetColumn() = default;
  /// Rows of the whole file, by its own account.
  virtual int64_t rows() const = 0;
  /// False: there is no further row. Else the next one's bytes, there until the next call; nothing:
  /// it is null.
  virtual Result<bool> next(std::optional<std::string_view>& text) = 0;
};

/// Opens a file's column, its name with dots where it is nested. An error names the columns that
/// there are.
using OpenParquet = Result<std::unique_ptr<ParquetColumn>> (*)(const std::string& path,
                                                               const std::string& column);
/// The number changes with anything above: a plug-in of another build has another name here.
inline constexpr const char* kOpenParquet = "heddle_parquet_open_2";

}  // namespace heddle::data
