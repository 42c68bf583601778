#include "engine/train/feed.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/scalar_tensor.h>

#include "engine/optim/schedule.h"

namespace heddle::train {

Feed make_feed(const recipe::Recipe& recipe, const data::DataLoader& loader, int64_t step,
               int64_t rank, c10::Device device) {
  const int64_t b = recipe.training.local_batch, s = recipe.data.seq_len;
  auto tensor = [&](std::vector<int64_t>& ids) {
    return at::from_blob(ids.data(), {b, s}, at::TensorOptions(at::kLong))
        .to(device, at::kLong, false, true);
  };
  Feed feed;
  const at::Tensor positions =
      at::arange(s, at::kLong).unsqueeze(0).expand({b, s}).contiguous().to(device);
  for (int64_t m = 0; m < recipe.accumulation(); ++m) {
    data::Batch batch = loader.next(step, m, rank, recipe.data_parallel_ranks());
    feed.micro_batches.push_back({{"tokens", tensor(batch.tokens)},
                                  {"labels", tensor(batch.labels)},
                                  {"positions", positions}});
  }
  const double lr =
      recipe.optimizer.lr * optim::lr_factor(recipe.schedule, recipe.training.steps, step);
  // Packed samples have no padding: every label counts.
  const auto count = static_cast<double>(recipe.training.global_batch * s);
  feed.step = {{"token_count", at::scalar_tensor(count, at::kFloat)},
               {"lr", at::scalar_tensor(lr, at::kDouble)},
               {"step", at::scalar_tensor(step + 1, at::kLong)}};
  return feed;
}

}  // namespace heddle::train
