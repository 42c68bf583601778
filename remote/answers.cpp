#include "remote/answers.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace heddle::remote {
namespace {

/// The word up to `end`, and off the text with both; nothing where there is no such end.
std::optional<std::string_view> take_word(std::string_view& text, char end) {
  const size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at + 1);
  return word;
}

/// A whole word that is a number.
template <typename T, typename... Base>
bool read_number(const std::optional<std::string_view>& word, T& number, Base... base) {
  if (!word) return false;
  const char* end = word->data() + word->size();
  const auto read = std::from_chars(word->data(), end, number, base...);
  return read.ec == std::errc() && read.ptr == end;
}

std::optional<Entry> entry_from(std::string_view line) {
  uint32_t mode = 0;
  uint64_t size = 0;
  double modified = 0;
  if (!read_number(take_word(line, ' '), mode, 16) || !read_number(take_word(line, ' '), size) ||
      !read_number(take_word(line, ' '), modified))
    return std::nullopt;
  const bool folder = S_ISDIR(mode);
  const std::string name = std::filesystem::path(std::string(line)).filename().string();
  if (name.empty()) return std::nullopt;
  return Entry{name, folder ? 0 : size, modified, folder};
}

}  // namespace

std::vector<Entry> entries_from(std::string_view answer) {
  std::vector<Entry> entries;
  while (const auto line = take_word(answer, '\0'))
    if (auto entry = entry_from(*line)) entries.push_back(std::move(*entry));
  return entries;
}

Result<std::vector<std::optional<std::string>>> pieces_from(std::string_view answer,
                                                            const std::vector<Range>& ranges) {
  std::vector<std::optional<std::string>> pieces;
  for (const Range& range : ranges) {
    const auto word = take_word(answer, '\n');
    if (word == "-") {
      pieces.push_back(std::nullopt);
      continue;
    }
    uint64_t size = 0;
    if (!read_number(word, size) || size > answer.size() || size > range.max_bytes)
      return fail("{} changed while it was read: try again", range.path);
    pieces.push_back(std::string(answer.substr(0, size)));
    answer.remove_prefix(size);
  }
  return pieces;
}

}  // namespace heddle::remote
