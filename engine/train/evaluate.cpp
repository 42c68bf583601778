#include "engine/train/evaluate.h"

#include <ATen/ATen.h>

#include <cstring>

#include "engine/checkpoint/hugging_face.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/parallel/context_parallel.h"
#include "engine/recipe/layout.h"
#include "engine/runtime/collectives.h"
#include "engine/runtime/process_groups.h"
#include "engine/step/feed.h"
#include "engine/step/states.h"
#include "engine/step/step.h"

namespace heddle::train {
namespace {

at::Tensor in_hugging_face_layout(const holdings::Parameter& parameter, const at::Tensor& own) {
  at::Tensor permuted = at::empty_like(own);
  for (int64_t row = 0; row < parameter.rows(); ++row)
    permuted[parameter.hugging_face_row(row)].copy_(own[row]);
  return permuted;
}

// From this rank's tokens and columns of the vocabulary to all of them, [tokens, vocabulary].
at::Tensor whole_logits(const runtime::NamedTensors& outputs, const recipe::Recipe& recipe,
                        const recipe::Mesh& mesh) {
  const auto group = [&](recipe::Dims dims) {
    return parallel::Group{mesh.size(dims), mesh.name(dims)};
  };
  const parallel::Group tokens = group(recipe::kTokens), tp = group(recipe::kTp);
  const int64_t cp = mesh.size(recipe::kCp), s = recipe.data.seq_len,
                t = recipe.training.global_batch * s, vocabulary = recipe.model.vocab_size,
                n = recipe::local_shape({vocabulary}, recipe::Cut::rows, tp.ranks).front();
  // The last stage of a pipeline has them; the others add zeros.
  const auto found = outputs.find("logits");
  at::Tensor mine =
      found == outputs.end()
          ? at::zeros({t / tokens.ranks, n},
                      at::TensorOptions(at::kFloat).device(runtime::transport_device()))
          : found->second;
  if (mesh.size(recipe::kPp) > 1)
    mine = runtime::wait(runtime::all_reduce({mine}, "sum", mesh.name(recipe::kPp))).front();
  const at::Tensor rows = step::gathered(mine, t, tokens);
  const at::Tensor all = step::gathered(rows, t * tp.ranks, tp)
                             .view({tp.ranks, t, n})
                             .transpose(0, 1)
                             .reshape({t, tp.ranks * n})
                             .narrow(1, 0, vocabulary);
  if (cp == 1) return all;
  // Ranks that share sequences have parts of them: [groups, cp, sequences, part, vocabulary].
  const int64_t b = recipe.training.local_batch;
  const at::Tensor parts = all.view({t / (b * s), cp, b, s / cp, vocabulary});
  at::Tensor whole = at::empty({t / (b * s), b, s, vocabulary}, parts.options());
  for (int64_t rank = 0; rank < cp; ++rank) {
    const auto own = parallel::tokens_of(rank, cp, recipe.parallelism.cp_mode, s);
    whole.index_copy_(2, at::tensor(own, at::kLong).to(whole.device()), parts.select(1, rank));
  }
  return whole.view({t, vocabulary});
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

Result<> evaluate(const recipe::Recipe& recipe, const runs::RankContext& context, Runner& runner,
                  const data::DataLoader& loader) {
  const step::StepSettings settings = step::settings_of(recipe);
  const auto feed = step::make_feed(recipe, settings.layout, loader, 0, context.rank);
  if (!feed) return fail(feed);
  const auto outputs = runner.run(feed->micro_batches, feed->step, nullptr);

  std::vector<std::pair<checkpoint::TensorInfo, at::Tensor>> tensors;
  auto add = [&](const std::string& name, std::vector<int64_t> shape, const at::Tensor& tensor) {
    tensors.push_back({{name, checkpoint::Dtype::f32, std::move(shape)}, tensor});
  };
  add("logits", {recipe.training.global_batch, recipe.data.seq_len, recipe.model.vocab_size},
      whole_logits(outputs, recipe, settings.layout.mesh()));
  add("loss", {}, outputs.at("loss"));
  for (const holdings::Parameter& parameter : settings.parameters) {
    if (!parameter.copy_of.empty()) continue;
    const at::Tensor grad = step::whole(parameter, outputs, "grad." + parameter.name(), settings);
    add("grad." + parameter.hugging_face_name, parameter.shape,
        in_hugging_face_layout(parameter, grad));
  }
  return context.rank == 0 ? write(context.launch.eval_to, tensors) : Result<>();
}

}  // namespace heddle::train
