#include "remote/ssh_config_lines.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/read_file.h"
#include "remote/ssh_config_values.h"
#include "remote/ssh_pattern.h"

namespace heddle::remote {
namespace {

constexpr std::string_view kLineBlank = " \t\r\n";
constexpr uint64_t kMaxConfigBytes = uint64_t{16} << 20;  // of one file

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(kLineBlank)));
}

/// A word up to blanks or one `=`; in double quotes all counts.
Result<std::string> take_config_word(std::string_view& text) {
  std::string word;
  const size_t end = std::min(text.size(), text.find_first_of(" \t\r\n\"="));
  word = text.substr(0, end);
  text.remove_prefix(end);
  if (text.starts_with('"')) {
    const size_t quote = text.find('"', 1);
    if (quote == text.npos) return fail("a quote does not end");
    word += text.substr(1, quote - 1);
    text.remove_prefix(quote + 1);
    skip_blanks(text);
    return word;
  }
  const bool equals = text.starts_with('=');
  if (equals) text.remove_prefix(1);
  skip_blanks(text);
  if (!equals && text.starts_with('=')) {
    text.remove_prefix(1);
    skip_blanks(text);
  }
  return word;
}

/// Quotes of both kinds group; \ makes a quote, a \ and outside of quotes a blank plain.
Result<std::vector<std::string>> split(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ' ' || text[at] == '\t') continue;
    if (text[at] == '#') break;
    std::string word;
    char quote = 0;
    for (; at < text.size(); ++at) {
      const char c = text[at];
      const char next = at + 1 < text.size() ? text[at + 1] : '\0';
      const bool escaped = next == '\'' || next == '"' || next == '\\' || (!quote && next == ' ');
      if (c == '\\' && escaped) {
        word += text[++at];
      } else if (!quote && (c == ' ' || c == '\t')) {
        break;
      } else if (!quote && (c == '"' || c == '\'')) {
        quote = c;
      } else if (quote && c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    }
    if (quote) return fail("a quote does not end");
    words.push_back(word);
  }
  return words;
}

Result<> check_owner(const std::string& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return {};
  if (info.st_uid != 0 && info.st_uid != getuid()) {
    return fail("{}: it belongs to someone else; valid: a file of yours or of root", file);
  }
  if (info.st_mode & 022) {
    return fail("{}: others can write to it: chmod go-w '{}'", file, file);
  }
  return {};
}

}  // namespace

std::vector<std::string> match_words(std::string_view text) {
  std::vector<std::string> words;
  skip_blanks(text);
  while (!text.empty() && !text.starts_with('#')) {
    const Result<std::string> word = take_config_word(text);
    if (!word) break;
    words.push_back(*word);
  }
  return words;
}

Result<std::vector<ConfigLine>> config_line(const std::string& place, std::string_view text) {
  text = text.substr(0, text.find('\0'));
  text = text.substr(0, text.find_last_not_of(" \t\r\n\f") + 1);
  skip_blanks(text);
  if (text.empty() || text.starts_with('#')) return {};
  ConfigLine line;
  line.place = place;
  const Result<std::string> keyword = take_config_word(text);
  if (!keyword) return fail("{}: {}", place, keyword.error().message);
  line.keyword = *keyword;
  line.key = lower(*keyword);
  if (text.empty()) return fail("{}: {} has no value", place, line.keyword);
  line.rest = text;
  auto words = split(text);
  if (!words) return fail("{}: {}: {}", place, line.keyword, words.error().message);
  line.words = std::move(*words);
  if (const Result<> taken = check_value(line); !taken) line.fault = taken.error().message;
  return std::vector{line};
}

Result<const std::vector<ConfigLine>*> ConfigFiles::lines(const std::string& file, Owner owner) {
  if (owner == Owner::user_or_root) {
    if (const Result<> checked = check_owner(file); !checked) return fail(checked);
  }
  if (const auto found = read_.find(file); found != read_.end()) return &found->second;
  const auto text = read_file_if_there(file, kMaxConfigBytes);
  if (!text) return fail(text);
  std::vector<ConfigLine> lines;
  int number = 0;
  for (std::string_view rest = *text ? **text : std::string_view(); !rest.empty();) {
    const std::string_view written = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), written.size() + 1));
    auto line = config_line(fmt::format("{}:{}", file, ++number), written);
    if (!line) return fail(line);
    if (!line->empty()) lines.push_back(std::move(line->front()));
  }
  return &(read_[file] = std::move(lines));
}

}  // namespace heddle::remote
