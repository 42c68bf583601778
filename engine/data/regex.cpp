#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/data/regex.h"

#include <pcre2.h>

#include <array>

namespace heddle::data {
namespace {

// Grown only by expressions that backtrack deeply; the default of 32 KiB is too small for those.
constexpr size_t kJitStackStart = size_t{32} * 1024;
constexpr size_t kJitStackMost = size_t{64} * 1024 * 1024;

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

/// PCRE2's \s holds U+180E, Oniguruma's does not: it is the property White_Space.
Result<std::string> translate(std::string_view pattern) {
  std::string translated;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char character = pattern[i];
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (character == '\\') {
      ++i;
      if (next == 's' || next == 'S') {
        translated += next == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
      } else {
        translated += character;
        if (next != '\0') translated += next;
      }
      continue;
    }
    if (in_class && character == '[' && next != ':')
      return fail("\"{}\" nests character classes, which is not supported", pattern);
    if (in_class && character == '&' && next == '&')
      return fail("\"{}\" intersects character classes, which is not supported", pattern);
    if (in_class && character == '[') {  // [:alpha:]
      const size_t end = pattern.find(":]", i);
      if (end == std::string_view::npos) return fail("\"{}\": [: without :]", pattern);
      translated += pattern.substr(i, end + 2 - i);
      i = end + 1;
      continue;
    }
    if (character == '[') in_class = true;
    if (character == ']') in_class = false;
    translated += character;
  }
  return translated;
}

}  // namespace

struct Regex::Compiled {
  std::string pattern;
  pcre2_code* code = nullptr;
  pcre2_match_data* match = nullptr;
  pcre2_match_context* context = nullptr;
  pcre2_jit_stack* stack = nullptr;

  static Result<Regex> make(std::string_view pattern, const std::string& translated,
                            uint32_t options) {
    std::unique_ptr<Compiled, Free> compiled(new Compiled{.pattern = std::string(pattern)});
    pcre2_compile_context* settings = pcre2_compile_context_create(nullptr);
    pcre2_set_newline(settings, PCRE2_NEWLINE_LF);
    int error = 0;
    PCRE2_SIZE at = 0;
    compiled->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()),
                                   translated.size(), options, &error, &at, settings);
    pcre2_compile_context_free(settings);
    if (!compiled->code)
      return fail("\"{}\" is no regular expression: {}", pattern, message_of(error));
    // Without JIT on this processor the interpreter matches: slower, the same result.
    pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE);
    compiled->match = pcre2_match_data_create(1, nullptr);
    compiled->context = pcre2_match_context_create(nullptr);
    compiled->stack = pcre2_jit_stack_create(kJitStackStart, kJitStackMost, nullptr);
    pcre2_jit_stack_assign(compiled->context, nullptr, compiled->stack);
    return Regex(std::move(compiled));
  }
};

void Regex::Free::operator()(Compiled* compiled) const {
  pcre2_jit_stack_free(compiled->stack);
  pcre2_match_context_free(compiled->context);
  pcre2_match_data_free(compiled->match);
  pcre2_code_free(compiled->code);
  delete compiled;
}

Result<Regex> Regex::compile(std::string_view pattern) {
  const Result<std::string> translated = translate(pattern);
  if (!translated) return fail(translated);
  // In Ruby's syntax ^ and $ always mean a line.
  return Compiled::make(pattern, *translated, PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE);
}

Result<Regex> Regex::literal(std::string_view text) {
  return Compiled::make(text, std::string(text), PCRE2_UTF | PCRE2_LITERAL);
}

Result<std::optional<Match>> Regex::find(std::string_view text, size_t from) {
  const int found =
      pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                  PCRE2_NO_UTF_CHECK, compiled_->match, compiled_->context);
  if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (found < 0)
    return fail("the regular expression \"{}\" gave up at byte {} of {}: {}", compiled_->pattern,
                from, text.size(), message_of(found));
  const PCRE2_SIZE* place = pcre2_get_ovector_pointer(compiled_->match);
  return Match{place[0], place[1]};
}

}  // namespace heddle::data
