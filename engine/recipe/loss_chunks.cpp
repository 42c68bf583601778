#include "engine/recipe/loss_chunks.h"

#include <fmt/format.h>

#include "engine/recipe/float8.h"
#include "engine/recipe/precision.h"

namespace heddle::recipe {
namespace {

// A chunk's logits, and the fewest tokens that still make a good product.
constexpr int64_t kChunkBytes = int64_t{512} << 20, kFewestTokens = 64;

int64_t tokens_of(const Recipe& recipe) {
  return recipe.micro_batch_size() * recipe.data.seq_len / recipe.parallelism.cp;
}

bool is_in_8_bits(const Recipe& recipe) {
  return Float8Layers(recipe.precision).of("output") != Float8::none;
}

}  // namespace

int64_t loss_chunks(const Recipe& recipe) {
  if (recipe.training.loss_chunks > 0) return recipe.training.loss_chunks;
  const int64_t vocabulary = recipe.model.vocab_size, tokens = tokens_of(recipe);
  if (vocabulary == 0 || recipe.parallelism.tp > 1 || is_in_8_bits(recipe)) return 1;
  const int64_t most = std::max<int64_t>(
      kChunkBytes / (vocabulary * bytes_of(recipe.precision.param)), kFewestTokens);
  for (int64_t chunks = (tokens + most - 1) / most;
       tokens / std::max<int64_t>(chunks, 1) >= kFewestTokens; ++chunks)
    if (tokens % chunks == 0) return chunks;
  return 1;
}

void check_loss_chunks(const Recipe& recipe, Checks& checks) {
  const std::string key = "training.loss_chunks";
  const int64_t chunks = recipe.training.loss_chunks, tp = recipe.parallelism.tp;
  if (chunks <= 1 || !checks.sound({key, "training.local_batch", "parallelism.microbatches",
                                    "data.seq_len", "parallelism.cp", "parallelism.tp"}))
    return;
  if (tp > 1) {
    checks.fault(
        {key, "parallelism.tp"},
        fmt::format("{} chunks, and tp {} cuts the logits already, by vocabulary", chunks, tp),
        "0 or 1 where tp is more than 1");
  } else if (is_in_8_bits(recipe)) {
    checks.fault(
        {key, "precision.float8_except"},
        fmt::format("{} chunks, and the output projection multiplies in 8 bits at once", chunks),
        "0 or 1, or output among precision.float8_except");
  } else if (const int64_t tokens = tokens_of(recipe); tokens % chunks != 0) {
    checks.fault({key, "data.seq_len", "training.local_batch"},
                 fmt::format("the {} tokens of a rank's micro-batch do not divide into {} chunks",
                             tokens, chunks),
                 "a divisor of them, or 0: as few as keep a chunk's logits within 512 MiB");
  }
}

}  // namespace heddle::recipe
