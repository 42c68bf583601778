#include "engine/data/plain_json.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "base/utf8.h"

namespace heddle::data {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Where the first quotation mark, backslash or control character is, eight bytes at a time.
const char* end_of_plain(const char* at, const char* end) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
  // The high bits of the bytes below `limit`; of those behind the first one, maybe of others too.
  const auto below = [](uint64_t bytes, char limit) {
    return (bytes - kOnes * static_cast<uint64_t>(limit)) & ~bytes & kHighs;
  };
  uint64_t eight = 0;
  for (; end - at >= static_cast<ptrdiff_t>(sizeof(eight)); at += sizeof(eight)) {
    std::memcpy(&eight, at, sizeof(eight));
    const uint64_t found =
        below(eight ^ kOnes * '"', 1) | below(eight ^ kOnes * '\\', 1) | below(eight, ' ');
    if (found != 0) return at + std::countr_zero(found) / 8;
  }
  return std::find_if(
      at, end, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' '; });
}

void append_utf8(std::string& text, uint32_t character) {
  const auto add = [&](uint32_t bits) { text += static_cast<char>(bits); };
  const auto add_rest = [&](int shift) { add(0x80 | (character >> shift & 0x3F)); };
  if (character < 0x80) {
    add(character);
  } else if (character < 0x800) {
    add(0xC0 | character >> 6);
    add_rest(0);
  } else if (character < 0x10000) {
    add(0xE0 | character >> 12);
    add_rest(6);
    add_rest(0);
  } else {
    add(0xF0 | character >> 18);
    add_rest(12);
    add_rest(6);
    add_rest(0);
  }
}

/// Each function passes over what it is named after; false: that is not there, or not plain.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  void spaces() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) ++at_;
  }
  bool is_next(char c) const { return at_ < end_ && *at_ == c; }
  bool mark(char c) {
    if (!is_next(c)) return false;
    ++at_;
    return true;
  }
  bool at_end() const { return at_ == end_; }

  bool string(std::string& text) {
    text.clear();
    if (!mark('"')) return false;
    while (true) {
      const char* stop = end_of_plain(at_, end_);
      text.append(at_, stop);
      at_ = stop;
      if (mark('"')) return true;
      if (!mark('\\') || !escaped(text)) return false;
    }
  }

  /// Any value; none of it is kept.
  bool value() {
    std::string open;  // the brackets that will close what is being read
    while (true) {
      spaces();
      const char opened = at_ < end_ ? *at_ : '\0';
      if (mark('{') || mark('[')) {
        open += opened == '{' ? '}' : ']';
        spaces();
        if (!is_next(open.back())) {
          if (opened == '{' && !name(other_)) return false;
          continue;
        }
      } else if (!(opened == '"' ? string(other_) : number_or_word())) {
        return false;
      }
      for (spaces(); !open.empty() && mark(open.back()); spaces()) open.pop_back();
      if (open.empty()) return true;
      if (!mark(',') || (open.back() == '}' && !name(other_))) return false;
    }
  }

  /// A member's name, and the colon after it.
  bool name(std::string& text) {
    spaces();
    if (!string(text)) return false;
    spaces();
    return mark(':');
  }

 private:
  bool number_or_word() {
    for (const std::string_view word : {"true", "false", "null", "NaN", "Infinity", "-Infinity"})
      if (std::string_view(at_, end_).starts_with(word)) {
        at_ += word.size();
        return true;
      }
    (void)mark('-');
    const bool zero = is_next('0');
    const size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (mark('.') && digits() == 0) return false;
    if (!mark('e') && !mark('E')) return true;
    if (!mark('-')) (void)mark('+');
    return digits() > 0;
  }

  size_t digits() {
    const char* begin = at_;
    at_ = std::find_if_not(at_, end_, is_digit);
    return static_cast<size_t>(at_ - begin);
  }

  bool escaped(std::string& text) {
    if (at_ == end_) return false;
    const char c = *at_++;
    if (c == 'u') return unicode(text);
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    const size_t which = kNames.find(c);
    if (which == std::string_view::npos) return false;
    text += kMeant[which];
    return true;
  }

  bool unicode(std::string& text) {
    uint32_t character = 0, low = 0;
    if (!hexadecimal(character) || (character >= 0xDC00 && character < 0xE000)) return false;
    if (character >= 0xD800 && character < 0xDC00) {
      if (!mark('\\') || !mark('u') || !hexadecimal(low) || low < 0xDC00 || low >= 0xE000)
        return false;
      character = 0x10000 + ((character - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(text, character);
    return true;
  }

  bool hexadecimal(uint32_t& number) {
    constexpr ptrdiff_t kDigits = 4;
    if (end_ - at_ < kDigits) return false;
    const auto read = std::from_chars(at_, at_ + kDigits, number, 16);
    at_ += kDigits;
    return read.ptr == at_;
  }

  const char* at_;
  const char* end_;
  std::string other_;  // texts that nobody asked for
};

}  // namespace

std::optional<std::string> plain_member(std::string_view object, std::string_view name) {
  if (valid_utf8_prefix(object) != object.size()) return std::nullopt;
  Scanner scanner(object);
  std::string key;
  std::optional<std::string> found;
  scanner.spaces();
  if (!scanner.mark('{')) return std::nullopt;
  do {
    if (!scanner.name(key)) return std::nullopt;
    if (key == name) {
      scanner.spaces();
      if (found || !scanner.is_next('"')) return std::nullopt;
      found.emplace().reserve(object.size());
      if (!scanner.string(*found)) return std::nullopt;
    } else if (!scanner.value()) {
      return std::nullopt;
    }
    scanner.spaces();
  } while (scanner.mark(','));
  if (!scanner.mark('}')) return std::nullopt;
  scanner.spaces();
  return scanner.at_end() ? found : std::nullopt;
}

std::string without_pythons_numbers(std::string_view json) {
  std::string text(json);
  const auto replace = [&](size_t at, std::string_view word, std::string_view by) {
    if (text.compare(at, word.size(), word) == 0) text.replace(at, word.size(), by);
  };
  bool in_string = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c == '\\') ++at;
    } else if (c == 'N') {
      replace(at, "NaN", "0.0");
    } else if (c == 'I') {
      replace(at, "Infinity", "0.000000");
    } else if ((c == 'e' || c == 'E') && at > 0 && is_digit(text[at - 1])) {
      size_t end = at + 1;
      if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
      while (end < text.size() && is_digit(text[end])) ++end;
      if (is_digit(text[end - 1]))
        std::fill(text.begin() + static_cast<ptrdiff_t>(at),
                  text.begin() + static_cast<ptrdiff_t>(end), ' ');
    }
  }
  return text;
}

}  // namespace heddle::data
