#include "engine/step/feed.h"

#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include "engine/kernels/sight_numbers.h"
#include "engine/parallel/context_parallel.h"
#include "engine/recipe/schedule.h"
#include "engine/runtime/agreement.h"

namespace heddle::step {
namespace {

at::Tensor tensor_with(const std::vector<int64_t>& numbers, const std::vector<int64_t>& sizes) {
  return at::tensor(numbers).view(sizes);
}

// A context-parallel rank's tokens of each sequence.
class Part {
 public:
  Part(const recipe::Recipe& recipe, const recipe::Mesh& mesh, int64_t rank)
      : sequences_(recipe.micro_batch_size()),
        seq_len_(recipe.data.seq_len),
        tokens_(parallel::tokens_of(mesh.index(rank, recipe::kCp), mesh.size(recipe::kCp),
                                    recipe.parallelism.cp_mode, seq_len_)) {}

  /// Picks this rank's tokens' numbers from [B, seq_len].
  at::Tensor of(const std::vector<int64_t>& all) const {
    return from([&](int64_t sequence, int64_t token) { return all[sequence * seq_len_ + token]; });
  }

  /// int64 [B, tokens]: `number(sequence, token)` for each.
  template <typename Number>
  at::Tensor from(const Number& number) const {
    std::vector<int64_t> numbers;
    for (int64_t sequence = 0; sequence < sequences_; ++sequence)
      for (const int64_t token : tokens_) numbers.push_back(number(sequence, token));
    return tensor_with(numbers, {sequences_, static_cast<int64_t>(tokens_.size())});
  }

 private:
  int64_t sequences_, seq_len_;
  std::vector<int64_t> tokens_;
};

// Where a rank's pieces of keys begin: for its one attention call, or for each call of a ring.
at::Tensor key_starts(const recipe::Recipe& recipe, const recipe::Mesh& mesh, int64_t rank,
                      const std::vector<int64_t>& sizes) {
  return tensor_with(parallel::key_starts_of(mesh.index(rank, recipe::kCp), mesh.size(recipe::kCp),
                                             recipe.parallelism.cp_mode, recipe.data.seq_len),
                     sizes);
}

bool is_ring(const recipe::Recipe& recipe) {
  return recipe.parallelism.cp > 1 && recipe.parallelism.cp_mode == recipe::ContextMode::ring;
}

// The keys of an attention call.
int64_t keys_of_call(const recipe::Recipe& recipe) {
  return recipe.data.seq_len / (is_ring(recipe) ? recipe.parallelism.cp : 1);
}

}  // namespace

std::map<std::string, std::vector<int64_t>> batch_inputs(const recipe::Recipe& recipe) {
  const recipe::Parallelism& p = recipe.parallelism;
  const int64_t b = recipe.micro_batch_size(), s = recipe.data.seq_len / p.cp;
  std::map<std::string, std::vector<int64_t>> inputs = {
      {"tokens", {b, s}}, {"labels", {b, s}}, {"positions", {b, s}}};
  const bool by_heads = p.cp > 1 && p.cp_mode == recipe::ContextMode::ulysses;
  const bool apart = recipe.data.document_mask || (p.cp > 1 && !by_heads);
  if (apart) inputs["first_key"] = inputs["last_key"] = {b, by_heads ? recipe.data.seq_len : s};
  if (p.cp > 1 && p.cp_mode == recipe::ContextMode::allgather) inputs["key_starts"] = {2 * p.cp};
  if (is_ring(recipe)) inputs["key_starts"] = {p.cp, 2};
  if (apart) {
    const auto starts = inputs.find("key_starts");
    const int64_t pieces = starts == inputs.end() ? 0 : starts->second.back();
    const int64_t numbers =
        kernels::SightNumbers({b, inputs["first_key"].back(), keys_of_call(recipe), pieces})
            .count();
    inputs["sight"] = {numbers};
    if (is_ring(recipe)) inputs["sight"] = {p.cp, numbers};
  }
  if (p.tp > 1) inputs["vocabulary_begin"] = {};
  return inputs;
}

runtime::NamedTensors batch_tensors(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                    data::Batch batch, int64_t rank) {
  const recipe::Mesh& mesh = layout.mesh();
  const Part part(recipe, mesh, rank);
  const int64_t s = recipe.data.seq_len;
  const auto begin = [&](int64_t sequence, int64_t token) {
    return recipe.data.document_mask ? batch.documents[sequence * s + token] : 0;
  };
  runtime::NamedTensors tensors;
  tensors["tokens"] = part.of(batch.tokens);
  tensors["labels"] = part.of(batch.labels);
  tensors["positions"] =
      part.from([&](int64_t sequence, int64_t token) { return token - begin(sequence, token); });
  const auto inputs = batch_inputs(recipe);
  if (!inputs.contains("first_key")) return tensors;
  // With Ulysses the queries are all tokens; in other modes they are this rank's.
  const bool all = inputs.at("first_key").back() == s && mesh.size(recipe::kCp) > 1;
  const Part queries = all ? Part(recipe, {}, 0) : part;
  const at::Tensor first = queries.from(begin),
                   last = queries.from([](int64_t, int64_t token) { return token; });
  const auto sight = [&](const std::optional<at::Tensor>& starts) {
    return kernels::sight_of(first, last, starts, keys_of_call(recipe));
  };
  tensors["first_key"] = first;
  tensors["last_key"] = last;
  if (!inputs.contains("key_starts")) {
    tensors["sight"] = sight({});
  } else {
    const at::Tensor starts = key_starts(recipe, mesh, rank, inputs.at("key_starts"));
    std::vector<at::Tensor> of_calls;
    for (const at::Tensor& each : starts.view({-1, starts.size(-1)}).unbind())
      of_calls.push_back(sight(each));
    tensors["sight"] = at::stack(of_calls).view(inputs.at("sight"));
  }
  return tensors;
}

runtime::NamedTensors step_tensors(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                   int64_t step, int64_t rank) {
  const recipe::Mesh& mesh = layout.mesh();
  const double lr =
      recipe.optimizer.lr * recipe::lr_factor(recipe.schedule, recipe.training.steps, step);
  // Packed samples have no padding: every label counts.
  const auto count = static_cast<double>(recipe.training.global_batch * recipe.data.seq_len);
  runtime::NamedTensors tensors = {{"token_count", at::scalar_tensor(count, at::kFloat)},
                                   {"lr", at::scalar_tensor(lr, at::kDouble)},
                                   {"step", at::scalar_tensor(step + 1, at::kLong)},
                                   {"asked", runtime::tensor_of({})}};
  const auto inputs = batch_inputs(recipe);
  if (inputs.contains("key_starts")) {
    tensors["key_starts"] = key_starts(recipe, mesh, rank, inputs.at("key_starts"));
  }
  if (inputs.contains("vocabulary_begin")) {
    const int64_t rows =
        recipe::local_shape({recipe.model.vocab_size}, recipe::Cut::rows, mesh.size(recipe::kTp))
            .front();
    tensors["vocabulary_begin"] =
        at::scalar_tensor(mesh.index(rank, recipe::kTp) * rows, at::kLong);
  }
  return tensors;
}

Result<Feed> make_feed(const recipe::Recipe& recipe, const recipe::Layout& layout,
                       const data::DataLoader& loader, int64_t step, int64_t rank) {
  const int64_t data_rank = layout.mesh().index(rank, recipe::kSamples);
  Feed feed;
  for (int64_t m = 0; m < recipe.micro_batches(); ++m) {
    auto batch = loader.next(step, m, data_rank, recipe.data_parallel_ranks());
    if (!batch) return fail(batch);
    feed.micro_batches.push_back(batch_tensors(recipe, layout, std::move(*batch), rank));
  }
  feed.step = step_tensors(recipe, layout, step, rank);
  return feed;
}

model::Batch batch_of(const runtime::NamedTensors& tensors) {
  const auto get = [&](const char* name) {
    const auto found = tensors.find(name);
    return found == tensors.end() ? at::Tensor() : found->second;
  };
  return {get("tokens"),
          get("labels"),
          get("positions"),
          get("vocabulary_begin"),
          {get("first_key"), get("last_key"), get("key_starts"), get("sight")}};
}

}  // namespace heddle::step
