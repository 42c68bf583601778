// A column of text of a Parquet file, read with Apache Arrow.
#pragma once

#include "engine/data/parquet_plugin.h"

namespace heddle::data {

/// See OpenParquet. Of the file a page of the column is in memory at a time. Whatever Arrow throws
/// ends here, as an error.
Result<std::unique_ptr<ParquetColumn>> open_text_column(const std::string& path,
                                                        const std::string& column);

}  // namespace heddle::data
