// A column of a Parquet file as lines of JSON.
#pragma once

#include <memory>
#include <string>

#include "engine/data/byte_stream.h"

namespace heddle::data {

/// Each row as a line, an object with the column's text or null. Loads the plug-in, which need not
/// be there. Errors begin with `path`.
Result<std::unique_ptr<ByteStream>> rows_as_lines(const std::string& path,
                                                  const std::string& column);

/// How many rows the file says it has. Errors as above.
Result<int64_t> count_rows(const std::string& path, const std::string& column);

}  // namespace heddle::data
