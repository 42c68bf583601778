#include "engine/train/states.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "engine/checkpoint/hugging_face.h"
#include "engine/model/init.h"
#include "engine/model/rope_table.h"
#include "engine/runtime/collectives.h"

namespace heddle::train {

Result<> load_weights(const recipe::Recipe& recipe, int64_t rank,
                      const runtime::NamedTensors& states) {
  std::optional<checkpoint::HuggingFaceCheckpoint> source;
  if (!recipe.model.checkpoint.empty()) {
    auto opened = checkpoint::HuggingFaceCheckpoint::open(recipe.model.checkpoint, recipe.model);
    if (!opened) return fail(opened);
    source = std::move(*opened);
  }
  for (const checkpoint::Parameter& parameter : checkpoint::parameters(recipe.model)) {
    const auto state = states.find(parameter.name);
    if (state == states.end()) return fail("the step has no state \"{}\"", parameter.name);
    const int64_t shard_rows = state->second.size(0);
    const int64_t begin = std::min(rank * shard_rows, parameter.rows());
    const int64_t end = std::min(begin + shard_rows, parameter.rows());
    at::NoGradGuard no_grad;
    const at::Tensor rows = at::empty(state->second.sizes(), at::kFloat).zero_();
    auto* out = rows.mutable_data_ptr<float>();
    if (source) {
      if (const auto read = source->read_rows(parameter.name, begin, end, out); !read) return read;
    } else {
      const int64_t columns = parameter.columns();
      model::fill(model::init_of(recipe.model, parameter.name), recipe.training.seed,
                  parameter.name, begin * columns, (end - begin) * columns, out);
    }
    state->second.copy_(rows);
  }
  if (const auto table = states.find("rope_table"); table != states.end()) {
    at::NoGradGuard no_grad;
    table->second.copy_(model::make_rope_table(recipe.model, table->second.size(0)));
  }
  return {};
}

at::Tensor gathered(const at::Tensor& shard, int64_t rows, const model::Sharding& sharding) {
  at::NoGradGuard no_grad;
  if (sharding.ranks == 1) return shard.detach();
  return runtime::wait(runtime::all_gather({shard.detach()}, {rows}, sharding.group)).front();
}

Result<> save_weights(const recipe::Recipe& recipe, const model::Sharding& sharding, int64_t rank,
                      const runtime::NamedTensors& states, const std::string& folder) {
  if (rank != 0) {
    // Rank 0 asks for the parameters in the order of their Hugging Face names.
    auto parameters = checkpoint::parameters(recipe.model);
    std::sort(parameters.begin(), parameters.end(), [](const auto& a, const auto& b) {
      return a.hugging_face_name < b.hugging_face_name;
    });
    for (const auto& parameter : parameters)
      gathered(states.at(parameter.name), parameter.rows(), sharding);
    return {};
  }
  std::string held;  // the parameter that `whole` is
  at::Tensor whole;
  return checkpoint::write_hugging_face(
      folder, recipe.model,
      [&](const checkpoint::Parameter& parameter, int64_t begin, int64_t end,
          float* out) -> Result<> {
        if (held != parameter.name) {
          whole =
              gathered(states.at(parameter.name), parameter.rows(), sharding).contiguous().cpu();
          held = parameter.name;
        }
        std::memcpy(out, whole.const_data_ptr<float>() + begin * parameter.columns(),
                    static_cast<size_t>((end - begin) * parameter.columns()) * sizeof(float));
        return {};
      });
}

}  // namespace heddle::train
