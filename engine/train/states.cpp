#include "engine/train/states.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>

#include "engine/checkpoint/hugging_face.h"
#include "engine/model/init.h"
#include "engine/model/rope_table.h"
#include "engine/recipe/layout.h"
#include "engine/runtime/collectives.h"

namespace heddle::train {

namespace {

// The states that a parameter is: tied embeddings at both ends of a pipeline are two.
std::vector<std::string> copies_of(const recipe::Recipe& recipe, const std::string& parameter) {
  if (settings_of(recipe).parallelism.ends_apart && parameter == "tok_embeddings.weight")
    return {parameter, "output.weight"};
  return {parameter};
}

// The rank's part of a parameter, row by row where it has not all columns.
Result<> fill(const recipe::Recipe& recipe, const checkpoint::Parameter& parameter,
              const std::optional<checkpoint::HuggingFaceCheckpoint>& source,
              const recipe::Box& box, float* out) {
  const int64_t columns = parameter.columns();
  const auto rows = [&](int64_t begin, int64_t end, float* to) -> Result<> {
    if (source) return source->read_rows(parameter.name, begin, end, to);
    model::fill(model::init_of(recipe.model, parameter.name), recipe.training.seed, parameter.name,
                begin * columns, (end - begin) * columns, to);
    return {};
  };
  if (box.columns() == columns) return rows(box.row_begin, box.row_end, out);
  std::vector<float> whole(static_cast<size_t>(columns));
  for (int64_t row = box.row_begin; row < box.row_end; ++row, out += box.columns()) {
    if (const auto read = rows(row, row + 1, whole.data()); !read) return read;
    std::copy_n(whole.data() + box.column_begin, box.columns(), out);
  }
  return {};
}

}  // namespace

Result<> load_weights(const recipe::Recipe& recipe, int64_t rank,
                      const runtime::NamedTensors& states) {
  std::optional<checkpoint::HuggingFaceCheckpoint> source;
  if (!recipe.model.checkpoint.empty()) {
    auto opened = checkpoint::HuggingFaceCheckpoint::open(recipe.model.checkpoint, recipe.model);
    if (!opened) return fail(opened);
    source = std::move(*opened);
  }
  const recipe::Mesh mesh(recipe.parallelism);
  for (const checkpoint::Parameter& parameter : checkpoint::parameters(recipe.model)) {
    const recipe::Box box =
        recipe::stored_box(parameter.shape, recipe::cut_of(parameter.name), mesh, rank);
    for (const std::string& name : copies_of(recipe, parameter.name)) {
      const auto state = states.find(name);
      if (state == states.end() && recipe.parallelism.pp > 1) continue;  // of another stage
      if (state == states.end()) return fail("the step has no state \"{}\"", name);
      at::NoGradGuard no_grad;
      const at::Tensor rows = at::empty(state->second.sizes(), at::kFloat).zero_();
      if (const auto filled = fill(recipe, parameter, source, box, rows.mutable_data_ptr<float>());
          !filled)
        return filled;
      state->second.copy_(rows);
    }
  }
  if (const auto table = states.find("rope_table"); table != states.end()) {
    at::NoGradGuard no_grad;
    table->second.copy_(model::make_rope_table(recipe.model, table->second.size(0)));
  }
  return {};
}

at::Tensor gathered(const at::Tensor& mine, int64_t rows, const parallel::Group& group) {
  if (group.ranks == 1) return mine;
  at::NoGradGuard no_grad;
  return runtime::wait(runtime::all_gather({mine.contiguous()}, {rows}, group.name)).front();
}

at::Tensor whole(const checkpoint::Parameter& parameter, const runtime::NamedTensors& shards,
                 const std::string& name, const StepSettings& settings) {
  at::NoGradGuard no_grad;
  const recipe::Cut cut = recipe::cut_of(parameter.name);
  const auto& [sharding, tensor, context, ends_apart] = settings.parallelism;
  const parallel::Group& tp = tensor.group;
  const std::vector<int64_t> local = recipe::local_shape(parameter.shape, cut, tp.ranks);
  std::vector<int64_t> sizes = local;
  sizes[0] = sharding.shard_rows(local[0]);
  // Of a pipeline's ranks one has it; the others add zeros.
  const auto found = shards.find(name);
  at::Tensor shard = found == shards.end() ? at::zeros(sizes, at::kFloat) : found->second.detach();
  if (settings.mesh.size(recipe::kPp) > 1)
    shard =
        runtime::wait(runtime::all_reduce({shard}, "sum", settings.mesh.name(recipe::kPp))).front();
  const at::Tensor part = gathered(shard, local[0], {sharding.ranks, sharding.group});
  if (cut == recipe::Cut::none || tp.ranks == 1) return part;
  const at::Tensor parts = gathered(part, local[0] * tp.ranks, tp);
  if (cut == recipe::Cut::rows) return parts.narrow(0, 0, parameter.rows());
  return parts.view({tp.ranks, local[0], local[1]}).transpose(0, 1).reshape(parameter.shape);
}

Result<> save_weights(const recipe::Recipe& recipe, int64_t rank,
                      const runtime::NamedTensors& states, const std::string& folder) {
  const StepSettings settings = settings_of(recipe);
  if (rank != 0) {
    // Rank 0 asks for the parameters in the order of their Hugging Face names.
    auto parameters = checkpoint::parameters(recipe.model);
    std::sort(parameters.begin(), parameters.end(), [](const auto& a, const auto& b) {
      return a.hugging_face_name < b.hugging_face_name;
    });
    for (const auto& parameter : parameters) whole(parameter, states, parameter.name, settings);
    return {};
  }
  std::string held;  // the parameter that `all` is
  at::Tensor all;
  return checkpoint::write_hugging_face(
      folder, recipe.model,
      [&](const checkpoint::Parameter& parameter, int64_t begin, int64_t end,
          float* out) -> Result<> {
        if (held != parameter.name) {
          all = whole(parameter, states, parameter.name, settings).contiguous().cpu();
          held = parameter.name;
        }
        std::memcpy(out, all.const_data_ptr<float>() + begin * parameter.columns(),
                    static_cast<size_t>((end - begin) * parameter.columns()) * sizeof(float));
        return {};
      });
}

}  // namespace heddle::train
