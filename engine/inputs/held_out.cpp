#include "engine/inputs/held_out.h"

#include <string>
#include <string_view>

#include "engine/data/corpus.h"

namespace heddle::inputs {
namespace {

// Faults of data.text are another key's here.
std::string with_key(const std::string& key, const std::string& message) {
  constexpr std::string_view kText = "data.text:";
  if (!message.starts_with(kText)) return message;
  return key + ":" + message.substr(kText.size());
}

}  // namespace

recipe::Recipe validation_recipe(const recipe::Recipe& recipe) {
  recipe::Recipe one = recipe;
  one.training.local_batch = recipe.micro_batch_size();
  one.training.global_batch = one.training.local_batch * recipe.data_parallel_ranks();
  one.parallelism.microbatches = 1;
  one.data = data::validation_text(recipe).data;
  // Training takes what validation leaves of the limit: few weights are gathered at once.
  if (one.wrapping.memory_limit > 0 && one.wrapping.mode == recipe::WrappingMode::automatic)
    one.wrapping.mode = recipe::WrappingMode::layers;
  one.wrapping.memory_limit = 0;
  return one;
}

Result<HeldOut> read_held_out(const recipe::Recipe& recipe) {
  const recipe::Recipe one = validation_recipe(recipe);
  const data::Text text = data::validation_text(recipe);
  auto loader = data::DataLoader::open(one.data, one.training, one.model.vocab_size, text.part);
  if (!loader) return fail("{}", with_key(text.key, loader.error().message));
  HeldOut held_out{std::move(*loader), {}, {}};
  if (recipe.validation.tokens == 0) return held_out;

  auto tokenizer = data::load_tokenizer(data::tokenizer_of(recipe.data));
  if (!tokenizer) return fail(tokenizer);
  std::vector<int32_t>& prompt = held_out.prompt;
  if (tokenizer->bos_id()) prompt.push_back(*tokenizer->bos_id());
  const bool empty = recipe.validation.prompt.empty() && prompt.empty();
  const auto ids = tokenizer->encode(empty ? "\n" : recipe.validation.prompt);
  if (!ids) return fail("validation.prompt: {}", ids.error().message);
  prompt.insert(prompt.end(), ids->begin(), ids->end());
  const auto room = recipe.data.seq_len - recipe.validation.tokens;
  if (static_cast<int64_t>(prompt.size()) > room)
    return fail(
        "validation.prompt: {} tokens and {} to generate do not fit data.seq_len {}; valid: at "
        "most {} tokens",
        prompt.size(), recipe.validation.tokens, recipe.data.seq_len, room);
  held_out.tokenizer = std::move(*tokenizer);
  return held_out;
}

}  // namespace heddle::inputs
