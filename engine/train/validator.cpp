#include "engine/train/validator.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <random>

#include "engine/parallel/context_parallel.h"
#include "engine/recipe/layout.h"
#include "engine/runtime/collectives.h"
#include "engine/step/feed.h"

namespace heddle::train {
namespace {

// The token that a number from 0 to 1 falls on.
int32_t drawn(const at::Tensor& logits, double temperature, double number) {
  if (temperature == 0) return static_cast<int32_t>(logits.argmax().item<int64_t>());
  const at::Tensor sums = (logits.to(at::kDouble) / temperature).softmax(0).cumsum(0);
  const double* begin = sums.const_data_ptr<double>();
  const auto found = std::upper_bound(begin, begin + sums.numel(), number);
  return static_cast<int32_t>(std::min<int64_t>(found - begin, sums.numel() - 1));
}

}  // namespace

Validator::Validator(const recipe::Recipe& recipe, const recipe::Layout& layout,
                     inputs::HeldOut held_out, int64_t rank, c10::Device device)
    : recipe_(inputs::validation_recipe(recipe)),
      layout_(layout),
      sequences_(recipe.validation.batches * recipe.training.global_batch),
      held_out_(std::move(held_out)),
      rank_(rank),
      device_(device) {}

Result<double> Validator::loss(Runner& runner) const {
  const data::DataLoader& text = held_out_.loader;
  if (auto there = text.await_all(); !there) return fail(there);
  const recipe::Mesh& mesh = layout_.mesh();
  const int64_t at_once = recipe_.training.global_batch, mine = recipe_.micro_batch_size();
  const int64_t all = text.samples_once(), end = sequences_ == 0 ? all : std::min(all, sequences_);
  double sum = 0;
  int64_t tokens = 0;
  for (int64_t first = 0; first < end; first += at_once) {
    const int64_t own = first + mesh.index(rank_, recipe::kSamples) * mine;
    const int64_t count = text.labels_once(first, std::min(end, first + at_once));
    runtime::NamedTensors step = step::step_tensors(recipe_, layout_, 0, rank_);
    step["token_count"] = at::scalar_tensor(static_cast<double>(count), at::kFloat);
    auto read = text.once(own, mine, end);
    if (!read) return fail(read);
    const auto batch = step::batch_tensors(recipe_, layout_, std::move(*read), rank_);
    sum += runner.validate(batch, step).at("loss").item<double>() * static_cast<double>(count);
    tokens += count;
  }
  return sum / static_cast<double>(tokens);
}

// Logits of the token after `tokens`, [vocabulary], on every rank: the one that has them gives
// them.
at::Tensor Validator::logits_at(Runner& runner, const std::vector<int32_t>& tokens) const {
  const recipe::Mesh& mesh = layout_.mesh();
  const int64_t s = recipe_.data.seq_len, count = recipe_.micro_batch_size() * s;
  data::Batch batch{std::vector<int64_t>(count, 0), std::vector<int64_t>(count, 0),
                    std::vector<int64_t>(count, 0)};
  std::copy(tokens.begin(), tokens.end(), batch.tokens.begin());
  const auto outputs =
      runner.validate(step::batch_tensors(recipe_, layout_, std::move(batch), rank_),
                      step::step_tensors(recipe_, layout_, 0, rank_));
  at::NoGradGuard no_grad;
  const int64_t vocabulary = recipe_.model.vocab_size, tp = mesh.size(recipe::kTp);
  const int64_t width = recipe::local_shape({vocabulary}, recipe::Cut::rows, tp).front();
  at::Tensor row = at::zeros({tp * width}, at::TensorOptions(at::kFloat).device(device_));
  const auto own = parallel::tokens_of(mesh.index(rank_, recipe::kCp), mesh.size(recipe::kCp),
                                       recipe_.parallelism.cp_mode, s);
  const auto at = std::find(own.begin(), own.end(), static_cast<int64_t>(tokens.size()) - 1);
  const auto logits = outputs.find("logits");
  if (logits != outputs.end() && at != own.end() && mesh.index(rank_, recipe::kSamples) == 0)
    row.narrow(0, mesh.index(rank_, recipe::kTp) * width, width)
        .copy_(logits->second[at - own.begin()]);
  if (mesh.size() > 1)
    row = runtime::wait(runtime::all_reduce({row}, "sum", mesh.name(recipe::kWorld))).front();
  return row.narrow(0, 0, vocabulary).cpu();
}

std::vector<Validator::Sample> Validator::samples(Runner& runner, int64_t step) {
  std::vector<Sample> samples;
  if (!held_out_.tokenizer) return samples;
  for (const double temperature : {0.0, recipe_.validation.temperature}) {
    std::mt19937_64 random(static_cast<uint64_t>(recipe_.training.seed) * 1'000'003 +
                           static_cast<uint64_t>(step));
    std::uniform_real_distribution<double> number;
    const std::vector<int32_t>& prompt = held_out_.prompt;
    std::vector<int32_t> tokens = prompt;
    for (int64_t i = 0; i < recipe_.validation.tokens; ++i)
      tokens.push_back(drawn(logits_at(runner, tokens), temperature, number(random)));
    // Decodes the whole, since a tokenizer may leave out a space at the beginning.
    const size_t begins = held_out_.tokenizer->decode(prompt).size();
    samples.push_back({temperature, held_out_.tokenizer->decode(tokens).substr(begins)});
  }
  return samples;
}

}  // namespace heddle::train
