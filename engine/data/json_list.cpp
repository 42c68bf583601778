#include "engine/data/json_list.h"

#include <string>
#include <utility>

namespace heddle::data {
namespace {

bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// A byte of UTF-8's byte-order mark, which some editors put before the list.
bool is_of_mark(char c) { return c == '\xEF' || c == '\xBB' || c == '\xBF'; }

class ElementsAsLines : public ByteStream {
 public:
  ElementsAsLines(std::unique_ptr<ByteStream> json, std::string path)
      : json_(std::move(json)), path_(std::move(path)) {}

  Result<bool> read(std::string& bytes, size_t most) override {
    const size_t before = bytes.size();
    const auto more = json_->read(bytes, most);
    if (!more) return fail(more);
    if (!*more && depth_ > 0) return fail("{}: is cut short: its list does not end", path_);
    if (!*more || form_ == Form::lines) return *more;
    for (size_t i = before; i < bytes.size(); ++i) bytes[i] = as_line(bytes[i]);
    return true;
  }

 private:
  enum class Form { unknown, list, lines };

  /// A byte keeps its place: what parts elements becomes a line's end, other lines' ends a space.
  char as_line(char c) {
    if (form_ == Form::lines) return c;
    if (form_ == Form::unknown) {
      if (is_of_mark(c)) return ' ';
      if (is_json_space(c)) return c == '\n' ? ' ' : c;
      form_ = c == '[' ? Form::list : Form::lines;
      if (form_ == Form::lines) return c;
      depth_ = 1;
      return ' ';
    }
    if (in_string_) {
      in_string_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
      return c == '\n' ? ' ' : c;
    }
    in_string_ = c == '"';
    if (c == '[' || c == '{') ++depth_;
    if ((c == ']' || c == '}') && depth_ > 0 && --depth_ == 0) return '\n';
    if (c == ',' && depth_ == 1) return '\n';
    return c == '\n' && depth_ > 0 ? ' ' : c;
  }

  std::unique_ptr<ByteStream> json_;
  std::string path_;
  Form form_ = Form::unknown;
  int64_t depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> elements_as_lines(std::unique_ptr<ByteStream> json,
                                              const std::string& path) {
  return std::make_unique<ElementsAsLines>(std::move(json), path);
}

}  // namespace heddle::data
