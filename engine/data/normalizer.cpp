#include "engine/data/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/utf8.h"
#include "engine/data/byte_level.h"

namespace heddle::data {
namespace {

// The normal form that grows most makes 33 bytes of 3.
size_t most_bytes(size_t text) { return 16 * text + (size_t{1} << 16); }

// Characters before U+0300 are in form NFC, ASCII is in every form: most text stays as it is.
bool is_in_form(Form form, std::string_view text) {
  const unsigned char changes = form == Form::nfc ? 0xCC : 0x80;
  return std::ranges::all_of(text,
                             [&](char byte) { return static_cast<unsigned char>(byte) < changes; });
}

Result<std::string> in_form(Form form, std::string text) {
  if (is_in_form(form, text)) return text;
  int options = UTF8PROC_STABLE;
  options |= form == Form::nfc || form == Form::nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == Form::nfkc || form == Form::nfkd) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* out = nullptr;
  const utf8proc_ssize_t length = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &out, static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(out, &std::free);
  if (length < 0) return fail("normalizer: {}", utf8proc_errmsg(length));
  return std::string(reinterpret_cast<const char*>(out), static_cast<size_t>(length));
}

Result<std::string> replaced(Regex& pattern, const std::string& by, const std::string& text,
                             size_t most) {
  std::string out;
  size_t kept = 0;
  Matches matches(pattern, text);
  for (Match match; out.size() <= most && matches.next(match); kept = match.end)
    out.append(text, kept, match.begin - kept).append(by);
  if (auto all = matches.outcome(); !all) return fail(all);
  return out.append(text, kept);
}

/// The code point at the start of a text, and the text's rest.
utf8proc_int32_t take_point(std::string_view& text) {
  utf8proc_int32_t point = 0;
  const auto length = character_length(text);
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(length), &point);
  text.remove_prefix(length);
  return point;
}

void append(std::string& text, utf8proc_int32_t point) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(point, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

std::string lowercase(std::string_view text) {
  constexpr utf8proc_int32_t kDottedI = 0x130, kDot = 0x307;  // the one that becomes two
  std::string out;
  while (!text.empty()) {
    const auto point = take_point(text);
    append(out, point == kDottedI ? 'i' : utf8proc_tolower(point));
    if (point == kDottedI) append(out, kDot);
  }
  return out;
}

std::string without_accents(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto character = text.substr(0, character_length(text));
    if (utf8proc_category(take_point(text)) != UTF8PROC_CATEGORY_MN) out += character;
  }
  return out;
}

bool is_space(std::string_view character) {
  const utf8proc_int32_t point = take_point(character);
  if ((point >= 9 && point <= 13) || point == 0x85) return true;
  const utf8proc_category_t category = utf8proc_category(point);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

std::string stripped(std::string_view text, bool left, bool right) {
  while (left && !text.empty()) {
    const size_t length = character_length(text);
    if (!is_space(text.substr(0, length))) break;
    text.remove_prefix(length);
  }
  while (right && !text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    if (!is_space(text.substr(begin))) break;
    text = text.substr(0, begin);
  }
  return std::string(text);
}

}  // namespace

bool Normalizer::spells_bytes() const {
  return std::ranges::any_of(
      steps_, [](const auto& step) { return std::holds_alternative<Spelling>(step); });
}

Result<std::string> Normalizer::normalize(std::string text, bool goes_on) {
  const size_t begun = text.size(), most = most_bytes(begun);
  for (auto& step : steps_) {
    Result<std::string> next = std::visit(
        [&](auto& each) -> Result<std::string> {
          using Step = std::remove_reference_t<decltype(each)>;
          if constexpr (std::is_same_v<Step, Form>) {
            return in_form(each, std::move(text));
          } else if constexpr (std::is_same_v<Step, Prefix>) {
            return text.empty() || goes_on ? text : each.text + text;
          } else if constexpr (std::is_same_v<Step, Replacement>) {
            return replaced(each.pattern, each.by, text, most);
          } else if constexpr (std::is_same_v<Step, Lowercase>) {
            return lowercase(text);
          } else if constexpr (std::is_same_v<Step, StripAccents>) {
            return without_accents(text);
          } else if constexpr (std::is_same_v<Step, Spelling>) {
            return spelling_of_bytes(text);
          } else {
            return stripped(text, each.left, each.right);
          }
        },
        step);
    if (!next) return next;
    text = std::move(*next);
    if (text.size() > most)
      return fail("normalizer: makes more than {} bytes of {}; valid: steps that grow a text less",
                  most, begun);
  }
  return text;
}

}  // namespace heddle::data
