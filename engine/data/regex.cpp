#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/data/regex.h"

#include <pcre2.h>

#include <array>

#include "base/utf8.h"
#include "engine/data/oniguruma.h"

namespace heddle::data {
namespace {

// Grown only by expressions that backtrack deeply; the default of 32 KiB is too small for those.
constexpr size_t kJitStackStart = size_t{32} * 1024;
constexpr size_t kJitStackMax = size_t{64} * 1024 * 1024;
// A text of some megabytes takes a few steps a byte; an expression that tries everything is
// stopped within a second.
constexpr uint32_t kMaxMatchSteps = 10'000'000;
constexpr uint32_t kMaxMatchDepth = 100'000;
constexpr uint32_t kMaxHeap = 64 * 1024;  // KiB
constexpr size_t kMaxPattern = size_t{64} * 1024;

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

}  // namespace

struct Regex::Compiled {
  std::string pattern;
  pcre2_code* code = nullptr;
  pcre2_match_data* match = nullptr;
  pcre2_match_context* context = nullptr;
  pcre2_jit_stack* stack = nullptr;
  int error = 0;  // of the last search

  static Result<Regex> make(std::string_view pattern, const std::string& translated,
                            uint32_t options) {
    std::unique_ptr<Compiled, Free> compiled(new Compiled{.pattern = std::string(pattern)});
    pcre2_compile_context* settings = pcre2_compile_context_create(nullptr);
    pcre2_set_newline(settings, PCRE2_NEWLINE_LF);
    pcre2_set_max_pattern_length(settings, kMaxPattern);
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
    pcre2_set_match_limit(compiled->context, kMaxMatchSteps);
    pcre2_set_depth_limit(compiled->context, kMaxMatchDepth);
    pcre2_set_heap_limit(compiled->context, kMaxHeap);
    compiled->stack = pcre2_jit_stack_create(kJitStackStart, kJitStackMax, nullptr);
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
  const Result<std::string> translated = to_pcre2(pattern);
  if (!translated) return fail(translated);
  // In Ruby's syntax ^ and $ always mean a line.
  return Compiled::make(pattern, *translated,
                        PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C);
}

Result<Regex> Regex::literal(std::string_view text) {
  return Compiled::make(text, std::string(text), PCRE2_UTF | PCRE2_LITERAL);
}

Regex::Found Regex::search(std::string_view text, size_t from, Match& match) {
  const int found =
      pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                  PCRE2_NO_UTF_CHECK, compiled_->match, compiled_->context);
  if (found == PCRE2_ERROR_NOMATCH) return Found::none;
  compiled_->error = found;
  if (found < 0) return Found::failed;
  const PCRE2_SIZE* place = pcre2_get_ovector_pointer(compiled_->match);
  match = {place[0], place[1]};
  return match.begin < from || match.end < match.begin ? Found::failed : Found::match;
}

tl::unexpected<Error> Regex::failure(std::string_view text, size_t from) const {
  if (compiled_->error < 0)
    return fail("the regular expression \"{}\" gave up at byte {} of {}: {}", compiled_->pattern,
                from, text.size(), message_of(compiled_->error));
  return fail(
      "the regular expression \"{}\" gives a match that ends before it begins, after byte {}; "
      "valid: one without \\K in what it looks ahead to",
      compiled_->pattern, from);
}

Result<std::optional<Match>> Regex::find(std::string_view text, size_t from) {
  Match match;
  const Found found = search(text, from, match);
  if (found == Found::failed) return failure(text, from);
  return found == Found::none ? std::nullopt : std::optional(match);
}

bool Matches::next(Match& match) {
  while (from_ <= text_.size()) {
    const Regex::Found found = regex_.search(text_, from_, match);
    failed_ = found == Regex::Found::failed;
    if (found != Regex::Found::match) return false;
    const bool is_new = match.begin < match.end || match.end != last_end_;
    if (is_new) {
      from_ = last_end_ = match.end;
      return true;
    }
    from_ += from_ < text_.size() ? character_length(text_.substr(from_)) : 1;
  }
  return false;
}

Result<> Matches::outcome() const {
  if (failed_) return regex_.failure(text_, from_);
  return {};
}

}  // namespace heddle::data
