// A tokenizer.json, and a text that goes through what it describes.
#include "engine/data/tokenizer.h"

#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto tokenizer = heddle::data::Tokenizer::parse(heddle::fuzz::text(data, size), "tokenizer.json");
  if (!tokenizer) return 0;
  if (const auto ids = tokenizer->encode("To be, or not to be: that's 1 \xff question\n\n"))
    (void)tokenizer->decode(*ids);
  return 0;
}
