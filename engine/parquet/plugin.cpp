// libheddle_parquet.so: see engine/data/parquet_plugin.h.
#include "engine/parquet/text_column.h"

extern "C"
    [[gnu::visibility("default")]] heddle::Result<std::unique_ptr<heddle::data::ParquetColumn>>
    heddle_parquet_open_2(const std::string& path, const std::string& column) {
  return heddle::data::open_text_column(path, column);
}
