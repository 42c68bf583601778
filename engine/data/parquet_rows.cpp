#include "engine/data/parquet_rows.h"

#include <dlfcn.h>

#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "base/plain_file.h"
#include "engine/data/chunks.h"
#include "engine/data/parquet_plugin.h"

namespace heddle::data {
namespace {

Result<OpenParquet> load_plugin() {
  void* plugin = dlopen(kParquetPlugin, RTLD_NOW | RTLD_LOCAL);
  if (!plugin)
    return fail(
        "Parquet needs the engine's plug-in for it, which does not load ({}); valid: "
        "packaging/start.sh --parquet builds it, or .jsonl instead",
        dlerror());
  const auto open = reinterpret_cast<OpenParquet>(dlsym(plugin, kOpenParquet));
  if (!open)
    return fail("{} is of another build than this engine; packaging/start.sh --parquet builds both",
                kParquetPlugin);
  return open;
}

/// Bytes that are no UTF-8 stay as they are: whoever reads the line says so.
void append_string(std::string& line, std::string_view text) {
  constexpr char kFirstPlain = ' ';
  line += '"';
  for (auto at = text.begin(); at != text.end();) {
    const auto plain = std::find_if(at, text.end(), [](char c) {
      return c == '"' || c == '\\' || (c >= 0 && c < kFirstPlain);
    });
    line.append(at, plain);
    if (plain == text.end()) break;
    if (*plain == '\n')
      line += "\\n";
    else if (*plain >= kFirstPlain)
      (line += '\\') += *plain;
    else
      fmt::format_to(std::back_inserter(line), "\\u{:04x}", static_cast<unsigned>(*plain));
    at = plain + 1;
  }
  line += '"';
}

class RowsAsLines : public ByteStream {
 public:
  RowsAsLines(std::unique_ptr<ParquetColumn> column, std::string path, const std::string& name)
      : column_(std::move(column)),
        path_(std::move(path)),
        start_("{" + json_text(nlohmann::json(name)) + ":") {}

  Result<bool> read(std::string& bytes, size_t most) override {
    const size_t before = bytes.size();
    while (most > 0) {
      if (at_ == line_.size()) {
        const auto more = next_line();
        if (!more) return fail(more);
        if (!*more) break;
      }
      const size_t count = std::min(most, line_.size() - at_);
      bytes.append(line_, at_, count);
      at_ += count;
      most -= count;
    }
    return bytes.size() > before;
  }

 private:
  Result<bool> next_line() {
    std::optional<std::string_view> text;
    const auto more = column_->next(text);
    if (!more) return fail("{}: {}", path_, more.error().message);
    if (!*more) return false;
    if (text && text->size() > kMaxDocument)
      return fail("{}: a text of more than {} bytes", path_, kMaxDocument);
    line_ = start_;
    if (text)
      append_string(line_, *text);
    else
      line_ += "null";
    line_ += "}\n";
    at_ = 0;
    return true;
  }

  std::unique_ptr<ParquetColumn> column_;
  std::string path_;
  std::string start_;  // of each line: the name
  std::string line_;
  size_t at_ = 0;  // what of it has been read
};

Result<std::unique_ptr<ParquetColumn>> open_column(const std::string& path,
                                                   const std::string& column) {
  if (auto plain = check_plain_file(path); !plain) return fail(plain);
  const auto open = load_plugin();
  if (!open) return fail("{}: {}", path, open.error().message);
  auto opened = (*open)(path, column);
  if (!opened) return fail("{}: {}", path, opened.error().message);
  return opened;
}

}  // namespace

Result<std::unique_ptr<ByteStream>> rows_as_lines(const std::string& path,
                                                  const std::string& column) {
  auto opened = open_column(path, column);
  if (!opened) return fail(opened);
  return std::make_unique<RowsAsLines>(std::move(*opened), path, column);
}

Result<int64_t> count_rows(const std::string& path, const std::string& column) {
  const auto opened = open_column(path, column);
  if (!opened) return fail(opened);
  return (*opened)->rows();
}

}  // namespace heddle::data
