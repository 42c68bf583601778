#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/data/character_sets.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <cctype>
#include <map>

namespace heddle::data {
namespace {

constexpr std::string_view kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
// Outside of classes Oniguruma counts the superscripts and fractions of Latin-1, too.
constexpr std::string_view kWordAlone =
    R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";
constexpr std::string_view kHex = "0-9A-Fa-f";
constexpr std::string_view kSpace = R"(\p{White_Space})";

/// Items of a PCRE2 class for the names in [:…:] and \p{…}.
const std::map<std::string_view, std::string_view> kSets = {
    {"alnum", R"(\p{Alphabetic}\p{Nd})"},
    {"alpha", R"(\p{Alphabetic})"},
    {"blank", R"(\p{Zs}\t)"},
    {"cntrl", R"(\p{Cc})"},
    {"digit", R"(\p{Nd})"},
    {"lower", R"(\p{Lowercase})"},
    {"space", R"(\p{White_Space})"},
    {"upper", R"(\p{Uppercase})"},
    {"xdigit", kHex},
    {"word", kWord},
};
const std::map<std::string_view, std::string_view> kProperties = {
    {"punct", R"(\p{P})"},
    {"letter", R"(\p{L})"},
    {"uppercaseletter", R"(\p{Lu})"},
    {"lowercaseletter", R"(\p{Ll})"},
    {"titlecaseletter", R"(\p{Lt})"},
    {"modifierletter", R"(\p{Lm})"},
    {"otherletter", R"(\p{Lo})"},
    {"mark", R"(\p{M})"},
    {"nonspacingmark", R"(\p{Mn})"},
    {"number", R"(\p{N})"},
    {"decimalnumber", R"(\p{Nd})"},
    {"punctuation", R"(\p{P})"},
    {"symbol", R"(\p{S})"},
    {"separator", R"(\p{Z})"},
    {"other", R"(\p{C})"},
    {"control", R"(\p{Cc})"},
};

bool compiles(const std::string& pattern) {
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   PCRE2_UTF, &error, &at, nullptr);
  pcre2_code_free(code);
  return code != nullptr;
}

}  // namespace

std::string CharacterSet::expression() const {
  if (items.empty()) return other;
  if (is_character) return items;
  // A class where it is negated: PCRE2 10.42 takes \P{N}*\P{L} for \P{N}*+\P{L}.
  const bool one_property = items.starts_with("\\p{") && items.find('}') == items.size() - 1;
  if (one_property && !negated) return items;
  return (negated ? "[^" : "[") + items + "]";
}

std::optional<CharacterSet> set_of_escape(char letter, bool in_class) {
  const bool negated = std::isupper(static_cast<unsigned char>(letter)) != 0;
  const auto set = [&](std::string_view items) {
    return CharacterSet{std::string(items), negated};
  };
  switch (std::tolower(static_cast<unsigned char>(letter))) {
    case 's':
      return set(kSpace);
    case 'w':
      return set(in_class ? kWord : kWordAlone);
    case 'd':
      return set(kSets.at("digit"));
    case 'h':
      return set(kHex);
    default:
      return std::nullopt;
  }
}

std::optional<CharacterSet> set_of_bracket(std::string_view name, bool negated) {
  if (name == "punct") return CharacterSet{R"(\p{P}\p{S})", negated};
  const auto items = kSets.find(name);
  if (items == kSets.end()) return std::nullopt;
  return CharacterSet{std::string(items->second), negated};
}

CharacterSet set_of_property(std::string_view name, bool negated) {
  std::string plain;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto* known : {&kProperties, &kSets})
    if (const auto items = known->find(plain); items != known->end())
      return {std::string(items->second), negated};
  // PCRE2 would take the characters that a script shares with others, too.
  const std::string script = fmt::format(R"(\p{{sc:{}}})", plain);
  if (plain.size() > 2 && compiles(script)) return {script, negated};
  return {fmt::format(R"(\p{{{}}})", name), negated};
}

}  // namespace heddle::data
