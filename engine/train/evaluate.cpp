#include "engine/train/evaluate.h"

#include <ATen/ops/empty_like.h>

#include <cstring>

#include "engine/checkpoint/hugging_face.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/train/feed.h"
#include "engine/train/states.h"
#include "engine/train/step.h"

namespace heddle::train {
namespace {

at::Tensor in_hugging_face_layout(const checkpoint::Parameter& parameter, const at::Tensor& own) {
  at::Tensor permuted = at::empty_like(own);
  for (int64_t row = 0; row < parameter.rows(); ++row)
    permuted[parameter.hugging_face_row(row)].copy_(own[row]);
  return permuted;
}

// From this rank's tokens and columns [T, n] to all of them, [tokens, vocabulary].
at::Tensor whole_logits(const at::Tensor& mine, int64_t vocabulary, const parallel::Group& tokens,
                        const parallel::Group& tp) {
  const at::Tensor rows = gathered(mine, mine.size(0) * tokens.ranks, tokens);
  const int64_t t = rows.size(0), n = rows.size(1);
  return gathered(rows, t * tp.ranks, tp)
      .view({tp.ranks, t, n})
      .transpose(0, 1)
      .reshape({t, tp.ranks * n})
      .narrow(1, 0, vocabulary);
}

Result<> write(const std::string& path,
               const std::vector<std::pair<checkpoint::TensorInfo, at::Tensor>>& tensors) {
  std::vector<checkpoint::TensorInfo> infos;
  for (const auto& [info, tensor] : tensors) infos.push_back(info);
  auto writer = checkpoint::SafetensorsWriter::create(path, infos);
  if (!writer) return fail(writer);
  for (const auto& [info, tensor] : tensors) {
    const at::Tensor contiguous = tensor.contiguous().cpu();
    const auto* bytes = static_cast<const std::byte*>(contiguous.const_data_ptr());
    if (const auto written = writer->write({bytes, contiguous.nbytes()}); !written) return written;
  }
  return writer->finish();
}

}  // namespace

Result<> evaluate(const recipe::Recipe& recipe, const launch::RankContext& context, Runner& runner,
                  const data::DataLoader& loader, c10::Device device) {
  if (recipe.accumulation() != 1)
    return fail(
        "eval takes the whole first batch at once: global_batch must be local_batch x {} ranks",
        recipe.data_parallel_ranks());
  const StepSettings settings = settings_of(recipe);
  const Feed feed = make_feed(recipe, loader, 0, context.rank, device);
  const auto outputs = runner.run(feed.micro_batches, feed.step, nullptr);

  std::vector<std::pair<checkpoint::TensorInfo, at::Tensor>> tensors;
  auto add = [&](const std::string& name, std::vector<int64_t> shape, const at::Tensor& tensor) {
    tensors.push_back({{name, checkpoint::Dtype::f32, std::move(shape)}, tensor});
  };
  const auto group = [&](recipe::Dims dims) {
    return parallel::Group{settings.mesh.size(dims), settings.mesh.name(dims)};
  };
  add("logits", {recipe.training.global_batch, recipe.data.seq_len, recipe.model.vocab_size},
      whole_logits(outputs.at("logits"), recipe.model.vocab_size, group(recipe::kTokens),
                   group(recipe::kTp)));
  add("loss", {}, outputs.at("loss"));
  for (const checkpoint::Parameter& parameter : checkpoint::parameters(recipe.model)) {
    const at::Tensor grad =
        whole(parameter, outputs.at("grad." + parameter.name), settings.parallelism);
    add("grad." + parameter.hugging_face_name, parameter.shape,
        in_hugging_face_layout(parameter, grad));
  }
  return context.rank == 0 ? write(context.launch.eval_to, tensors) : Result<>();
}

}  // namespace heddle::train
