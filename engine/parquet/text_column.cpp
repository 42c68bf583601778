#include "engine/parquet/text_column.h"

#include <arrow/memory_pool.h>
#include <parquet/api/reader.h>
#include <parquet/exception.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>

#include "engine/data/chat.h"

namespace heddle::data {
namespace {

constexpr size_t kRowsAtOnce = 1024;
constexpr int kNamedColumns = 20;

/// Arrow's message, on one line, without the place in Arrow's sources that follows it.
Error of_arrow(const std::exception& thrown) {
  std::string what = thrown.what();
  what.resize(std::min(what.find('\n'), what.size()));
  return {"cannot be read as Parquet: " + what};
}

bool is_text(const parquet::ColumnDescriptor& column) {
  if (column.physical_type() != parquet::Type::BYTE_ARRAY) return false;
  const auto& type = column.logical_type();
  return !type || type->is_none() || type->is_string() || type->is_JSON() || type->is_enum();
}

std::string type_of(const parquet::ColumnDescriptor& column) {
  const auto& type = column.logical_type();
  if (type && !type->is_none()) return type->ToString();
  return parquet::TypeToString(column.physical_type());
}

/// A column that holds lists of messages, each with a role or who it is from.
std::optional<std::string> chat_column(const parquet::SchemaDescriptor& schema) {
  for (int i = 0; i < schema.num_columns(); ++i) {
    const std::string path = schema.Column(i)->path()->ToDotString();
    if (schema.Column(i)->max_repetition_level() > 0 &&
        (path.ends_with(".role") || path.ends_with(".from")))
      return path.substr(0, path.find('.'));
  }
  return std::nullopt;
}

/// The column's number.
Result<int> find_column(const parquet::SchemaDescriptor& schema, const std::string& name) {
  const int found = schema.ColumnIndex(name);
  if (found < 0) {
    std::string names;
    for (int i = 0; i < std::min(schema.num_columns(), kNamedColumns); ++i)
      names += (i == 0 ? "" : ", ") + schema.Column(i)->path()->ToDotString();
    if (schema.num_columns() > kNamedColumns) names += ", …";
    if (const auto chat = chat_column(schema))
      return fail("{}, or data.field of: {}", chat_words(*chat), names);
    return fail("has no column \"{}\"; valid for data.field: {}", name, names);
  }
  const parquet::ColumnDescriptor& column = *schema.Column(found);
  if (column.max_repetition_level() > 0)
    return fail("its column \"{}\" holds lists; valid for data.field: a column of text", name);
  if (!is_text(column))
    return fail("its column \"{}\" is of type {}; valid for data.field: a column of text", name,
                type_of(column));
  return found;
}

parquet::ReaderProperties properties() {
  // Arrow's own pools keep what is freed.
  parquet::ReaderProperties properties(arrow::system_memory_pool());
  properties.enable_buffered_stream();
  properties.set_page_checksum_verification(true);
  return properties;
}

class TextColumn : public ParquetColumn {
 public:
  TextColumn(std::unique_ptr<parquet::ParquetFileReader> file, int column)
      : file_(std::move(file)), column_(column) {}

  int64_t rows() const override { return file_->metadata()->num_rows(); }

  Result<bool> next(std::optional<std::string_view>& text) override try {
    while (row_ == rows_) {
      if (rows_left_ == 0) {
        if (group_ == file_->metadata()->num_row_groups()) return false;
        begin_group();
      } else if (auto read = read_rows(); !read) {
        return fail(read);
      }
    }
    text.reset();
    if (!may_be_null_ || defined_[row_] == whole_) {
      const parquet::ByteArray& value = values_[value_++];
      text.emplace(reinterpret_cast<const char*>(value.ptr), value.len);
    }
    ++row_;
    return true;
  } catch (const std::exception& thrown) {
    return tl::unexpected(of_arrow(thrown));
  }

 private:
  void begin_group() {
    const std::shared_ptr<parquet::RowGroupReader> group = file_->RowGroup(group_++);
    rows_left_ = group->metadata()->num_rows();
    reader_ = std::static_pointer_cast<parquet::ByteArrayReader>(group->Column(column_));
    whole_ = reader_->descr()->max_definition_level();
    may_be_null_ = whole_ > 0;
  }

  /// The next ones of the page; it holds the values.
  Result<> read_rows() {
    int64_t values = 0;
    rows_ = reader_->HasNext()
                ? reader_->ReadBatch(kRowsAtOnce, defined_.data(), nullptr, values_.data(), &values)
                : 0;
    row_ = value_ = 0;
    if (rows_ == 0 || rows_ > rows_left_)
      return fail("cannot be read as Parquet: row group {} has {} rows {} than it says", group_ - 1,
                  rows_ == 0 ? rows_left_ : rows_ - rows_left_, rows_ == 0 ? "less" : "more");
    rows_left_ -= rows_;
    return {};
  }

  std::unique_ptr<parquet::ParquetFileReader> file_;
  const int column_;
  std::shared_ptr<parquet::ByteArrayReader> reader_;
  int group_ = 0;          // the next one
  int64_t rows_left_ = 0;  // of the group
  int16_t whole_ = 0;      // the definition level of what is not null
  bool may_be_null_ = false;
  std::array<int16_t, kRowsAtOnce> defined_{};
  std::array<parquet::ByteArray, kRowsAtOnce> values_{};
  int64_t rows_ = 0, row_ = 0, value_ = 0;  // of those arrays
};

}  // namespace

Result<std::unique_ptr<ParquetColumn>> open_text_column(const std::string& path,
                                                        const std::string& column) try {
  auto file = parquet::ParquetFileReader::OpenFile(path, false, properties());
  const auto number = find_column(*file->metadata()->schema(), column);
  if (!number) return fail(number);
  return std::make_unique<TextColumn>(std::move(file), *number);
} catch (const std::exception& thrown) {
  return tl::unexpected(of_arrow(thrown));
}

}  // namespace heddle::data
