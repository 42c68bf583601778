#include "engine/probe/facts.h"

#include <charconv>

#include "base/number_text.h"

namespace heddle::probe {

std::string text_of(const Facts& facts, const std::string& key) {
  const auto found = facts.find(key);
  return found == facts.end() ? "" : found->second;
}

std::optional<int64_t> number_of(const Facts& facts, const std::string& key) {
  const std::string text = text_of(facts, key);
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> all_of(const Facts& facts, const std::string& key) {
  std::vector<std::string> values;
  const auto [begin, end] = facts.equal_range(key);
  for (auto next = begin; next != end; ++next) values.push_back(next->second);
  return values;
}

std::string size_text(int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::string> words_of(const std::string& line, size_t count) {
  std::vector<std::string> words;
  size_t from = 0;
  while (words.size() + 1 < count) {
    const size_t comma = line.find(',', from);
    if (comma == std::string::npos) break;
    words.push_back(trimmed(line.substr(from, comma - from)));
    from = comma + 1;
  }
  words.push_back(trimmed(line.substr(from)));
  words.resize(count);
  return words;
}

Status Least::of(double value) const {
  if (value < fails) return Status::fail;
  return value < warns ? Status::warn : Status::pass;
}

Check check(const std::string& name, Status status, const std::string& value,
            const std::string& advice) {
  return {name, status, value, status == Status::pass ? "" : advice};
}

Check unknown(const std::string& name, const std::string& advice) {
  return {name, Status::unknown, "could not be told", advice};
}

Check limit(const Facts& facts, const std::string& key, const std::string& name, Least least,
            const std::string& advice, const char* unit) {
  const std::string text = text_of(facts, key);
  if (text == "unlimited") return check(name, Status::pass, text, "");
  const auto value = number_of(facts, key);
  if (!value) return unknown(name, "ulimit gives no answer there");
  return check(name, least.of(static_cast<double>(*value)),
               count_text(static_cast<double>(*value)) + unit, advice);
}

}  // namespace heddle::probe
