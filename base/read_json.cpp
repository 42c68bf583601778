#include "base/read_json.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/read_file.h"

namespace heddle {
namespace {

using nlohmann::json;

constexpr auto kUnknown = static_cast<size_t>(-1);  // the number of items, in JSON
constexpr int kOutOfRange = 406;                    // nlohmann's number of "no double holds it"

Error too_many(const Budget& budget) {
  return {fmt::format("more than {} values; no more are read", budget.values)};
}
Error too_deep(const Budget& budget) {
  return {fmt::format("lists or objects more than {} deep; no more are read", budget.depth)};
}

/// The fault of a text that the parser refuses, if it is one of these.
std::string flaw(const char* format, std::string_view parser) {
  parser = parser.substr(0, parser.find("; last read: "));  // the text itself follows it
  if (parser.ends_with("ill-formed UTF-8 byte")) return "invalid UTF-8";
  if (parser.find("invalid string: surrogate") != std::string_view::npos)
    return "a lone surrogate, which is half a character";
  return fmt::format("not {}", format);
}

/// Builds the value as the parser goes on, and stops it where the budget ends.
class Builder final : public nlohmann::json_sax<json> {
 public:
  Builder(const char* format, const Budget& budget, std::span<const std::string_view> only = {})
      : format_(format), budget_(budget), only_(only) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(json::binary_t&) override { return stop({"bytes that are no text"}); }
  bool start_object(size_t) override { return open(json::object()); }
  bool start_array(size_t items) override {
    if (!open(json::array())) return false;
    // CBOR says how many are to come, and check_cbor has counted them.
    if (items != kUnknown && !passing_) open_.back()->get_ref<json::array_t&>().reserve(items);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    if (!count()) return false;
    if (passing_) return true;
    if (open_.size() == 1 && !only_.empty() && std::ranges::find(only_, name) == only_.end()) {
      passing_ = true;
      return true;
    }
    const auto [member, is_new] =
        open_.back()->get_ref<json::object_t&>().try_emplace(std::move(name));
    if (!is_new) return stop({fmt::format("\"{}\" is described twice", member->first)});
    member_ = &member->second;
    return true;
  }
  bool parse_error(size_t position, const std::string& token,
                   const json::exception& error) override {
    if (error.id != kOutOfRange)
      return stop({fmt::format("{} (at byte {})", flaw(format_, error.what()), position)});
    return stop(
        {fmt::format("the number {} is out of range (at byte {})", token.substr(0, 40), position)});
  }

  Result<json> take() {
    if (error_) return tl::unexpected(*error_);
    return std::move(root_);
  }

 private:
  bool stop(Error error) {
    error_ = std::move(error);
    return false;
  }
  bool count() { return ++values_ <= budget_.values || stop(too_many(budget_)); }
  // For the memory of its own that it takes.
  bool count_open() { return count() && count(); }

  bool add(json value) {
    if (!count()) return false;
    if (!passing_) return place(std::move(value)) != nullptr;
    passing_ = passed_ > 0;
    return true;
  }
  bool open(json value) {
    if (open_.size() + passed_ == budget_.depth) return stop(too_deep(budget_));
    if (!count_open()) return false;
    if (passing_) {
      ++passed_;
      return true;
    }
    json* placed = place(std::move(value));
    if (placed) open_.push_back(placed);
    return placed != nullptr;
  }
  bool close() {
    if (passing_) {
      passing_ = --passed_ > 0;
    } else {
      open_.pop_back();
    }
    return true;
  }
  json* place(json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_object()) return &(*member_ = std::move(value));
    return &open_.back()->get_ref<json::array_t&>().emplace_back(std::move(value));
  }

  const char* format_;
  const Budget budget_;
  const std::span<const std::string_view> only_;  // empty: all members
  json root_;
  std::vector<json*> open_;  // what lists and objects are being read
  bool passing_ = false;     // a member that is not wanted
  size_t passed_ = 0;        // what lists and objects of it are being read
  json* member_ = nullptr;   // of the innermost object, its value to come
  size_t values_ = 0;
  std::optional<Error> error_;
};

/// One item's first bytes: its kind, and the number that belongs to it (a value, length or count).
struct Head {
  unsigned kind = 0;
  uint64_t number = 0;
};
constexpr unsigned kText = 3, kList = 4, kMap = 5;

/// Nothing for a tag, raw bytes, or a length that the item does not give.
std::optional<Head> read_head(std::string_view& bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  const unsigned kind = first >> 5, more = first & 31;
  const size_t wide = more < 24 ? 0 : size_t{1} << (more - 24);
  if (kind == 2 || kind == 6 || more > 27 || bytes.size() - 1 < wide) return std::nullopt;
  uint64_t number = more < 24 ? more : 0;
  for (size_t i = 1; i <= wide; ++i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  bytes.remove_prefix(1 + wide);
  return Head{kind, number};
}

}  // namespace

Result<json> read_json(std::string_view text, const Budget& budget) {
  return read_json_members(text, {}, budget);
}

Result<json> read_json_members(std::string_view text, std::span<const std::string_view> names,
                               const Budget& budget) {
  if (text.size() > budget.bytes)
    return fail("{} bytes; at most {} are read", text.size(), budget.bytes);
  Builder builder("JSON", budget, names);
  json::sax_parse(text, &builder);
  return builder.take();
}

Result<json> read_json_file(const std::string& path, const Budget& budget) {
  const Result<std::string> text = read_file(path, budget.bytes);
  if (!text) return fail(text);
  Result<json> read = read_json(*text, budget);
  return read ? std::move(read) : fail("{}: {}", path, read.error().message);
}

// Before anything is built, and without recursion: the library's reader calls itself for a list in
// a list, and for a piece of a text in pieces.
Result<> check_cbor(std::string_view bytes, const Budget& budget) {
  if (bytes.size() > budget.bytes)
    return fail("{} bytes; at most {} are read", bytes.size(), budget.bytes);
  const size_t all = bytes.size();
  std::vector<uint64_t> to_come{1};  // items, by level
  for (size_t values = 0; !to_come.empty();) {
    if (to_come.back() == 0) {
      to_come.pop_back();
      continue;
    }
    --to_come.back();
    if (++values > budget.values) return tl::unexpected(too_many(budget));
    if (bytes.empty()) return fail("not CBOR: it ends at byte {}, in the middle", all);
    const size_t at = all - bytes.size();
    const std::optional<Head> head = read_head(bytes);
    if (!head || (head->kind == kText && head->number > bytes.size()))
      return fail("not CBOR as it is written here (at byte {})", at);
    if (head->kind == kText) bytes.remove_prefix(head->number);
    if (head->kind != kList && head->kind != kMap) continue;
    if (++values > budget.values) return tl::unexpected(too_many(budget));
    if (to_come.size() > budget.depth) return tl::unexpected(too_deep(budget));
    if (head->number > budget.values) return tl::unexpected(too_many(budget));
    to_come.push_back(head->kind == kMap ? 2 * head->number : head->number);
  }
  if (!bytes.empty()) return fail("not CBOR: {} bytes follow its end", bytes.size());
  return {};
}

Result<json> read_cbor(std::string_view bytes, const Budget& budget) {
  if (const Result<> checked = check_cbor(bytes, budget); !checked) return fail(checked);
  Builder builder("CBOR", budget);  // from_cbor copies what it has built
  json::sax_parse(bytes, &builder, json::input_format_t::cbor);
  return builder.take();
}

}  // namespace heddle
