// A tokenizer.json and a text that goes through what it describes; or a regular expression and a
// text in which it is sought, split at and replaced.
#include "engine/data/tokenizer.h"

#include <algorithm>
#include <cstdlib>

#include "base/utf8.h"
#include "engine/data/normalizer.h"
#include "engine/data/pre_tokenizer.h"
#include "tests/fuzz/input.h"

namespace {

using heddle::data::Normalizer;
using heddle::data::PreTokenizer;
using heddle::data::Regex;

/// The pattern up to the first zero byte, the text behind it.
void match(std::string_view input) {
  const size_t end = std::min(input.find('\0'), input.size());
  const std::string_view pattern = input.substr(0, end);
  const std::string text =
      heddle::valid_utf8(input.substr(std::min(end + 1, input.size()))) + "To be, or not\n to be 1";
  auto regex = Regex::compile(pattern), other = Regex::compile(pattern);
  if (!regex || !other) return;
  PreTokenizer splits;
  splits.add_split(std::move(*regex), heddle::data::Behavior::merged_with_next);
  size_t pieces = 0;
  (void)splits.split(text, true, [&](std::string_view piece) -> heddle::Result<> {
    if (piece.empty() || ++pieces > text.size()) std::abort();
    return {};
  });
  Normalizer normalizer;
  normalizer.add_replacement(std::move(*other), "ab");
  (void)normalizer.normalize(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0 && data[0] == '/') {
    match(heddle::fuzz::text(data + 1, size - 1));
    return 0;
  }
  auto tokenizer = heddle::data::Tokenizer::parse(heddle::fuzz::text(data, size), "tokenizer.json");
  if (!tokenizer) return 0;
  if (const auto ids = tokenizer->encode("To be, or not to be: that's 1 \xff question\n\n"))
    (void)tokenizer->decode(*ids);
  return 0;
}
