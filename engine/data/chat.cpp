#include "engine/data/chat.h"

#include <algorithm>
#include <vector>

#include "base/read_json.h"

namespace heddle::data {
namespace {

constexpr Budget kChatBudget{.bytes = size_t{64} << 20, .values = 1'000'000, .depth = 64};
constexpr size_t kLooked = 1 << 16;  // bytes of a text's start

bool is_chat(const nlohmann::json& value) {
  if (!value.is_array() || value.empty() || !value.front().is_object()) return false;
  const nlohmann::json& message = value.front();
  return message.contains("role") || (message.contains("from") && message.contains("value"));
}

/// The start of a text, not yet read; each function passes over what it is named after.
class Start {
 public:
  explicit Start(std::string_view text) : rest_(text.substr(0, kLooked)) {}

  bool mark(char c) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// A member's name in either kind of quotes, and the colon after it.
  std::optional<std::string_view> name() {
    const char quote = mark('"') ? '"' : mark('\'') ? '\'' : '\0';
    if (quote == '\0') return std::nullopt;
    const std::string_view name = rest_.substr(0, rest_.find(quote));
    rest_.remove_prefix(std::min(name.size() + 1, rest_.size()));
    return mark(':') ? std::optional(name) : std::nullopt;
  }
  bool holds(std::string_view word) const { return rest_.find(word) != std::string_view::npos; }

 private:
  std::string_view rest_;
};

}  // namespace

std::optional<std::string> chat_member(std::string_view object, const std::string& field) {
  std::vector<std::string_view> names(kChatMembers.begin(), kChatMembers.end());
  names.push_back(field);
  const auto read = read_json_members(object, names, kChatBudget);
  if (!read || !read->is_object()) return std::nullopt;
  for (const std::string_view name : names)
    if (const auto found = read->find(name); found != read->end() && is_chat(*found))
      return std::string(name);
  return std::nullopt;
}

bool begins_as_chat(std::string_view text) {
  Start start(text);
  if (start.mark('{')) {
    const auto name = start.name();
    if (!name || std::ranges::find(kChatMembers, *name) == kChatMembers.end()) return false;
  }
  if (!start.mark('[') || !start.mark('{')) return false;
  const auto first = start.name();
  if (!first) return false;
  if (*first == "role") return start.holds("content");
  if (*first == "content") return start.holds("role");
  if (*first == "from") return start.holds("value");
  return *first == "value" && start.holds("from");
}

}  // namespace heddle::data
