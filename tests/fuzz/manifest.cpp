// A checkpoint's manifest whose hash is right, and what ranks tell each other of theirs.
#include "engine/checkpoint/manifest.h"

#include <algorithm>

#include "engine/checkpoint/hash.h"
#include "tests/fuzz/input.h"

using namespace heddle::checkpoint;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = heddle::fuzz::text(data, size);
  (void)parse_contents(input);
  constexpr std::string_view kBegin = "{\"hash\":\"";
  std::string text(input);
  if (text.starts_with(kBegin) && text.size() >= kBegin.size() + kHashDigits) {
    const auto digits = text.begin() + static_cast<std::ptrdiff_t>(kBegin.size());
    std::fill_n(digits, kHashDigits, '0');
    text.replace(kBegin.size(), kHashDigits, hash_of(text));
  }
  if (const auto manifest = parse_manifest(text)) {
    for (const auto& [name, tensor] : manifest->contents.tensors)
      for (const Shard& shard : tensor.shards)
        if (shard.bytes() <= 0) std::abort();
    (void)to_text(*manifest);
  }
  return 0;
}
