#include "engine/step/states.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "engine/checkpoint/weights.h"
#include "engine/model/init.h"
#include "engine/model/rope_table.h"
#include "engine/recipe/layout.h"
#include "engine/runtime/collectives.h"
#include "engine/runtime/process_groups.h"

namespace heddle::step {

namespace {

constexpr std::array kStored = {"", ".exp_avg", ".exp_avg_sq"};

// Fills the numbers of a box of a parameter.
using Fill = std::function<Result<>(const recipe::Box& box, float* out)>;

Result<> fill_state(const StoredState& stored, const Fill& fill) {
  at::NoGradGuard no_grad;
  const at::Tensor& state = stored.state;
  const int64_t rows = stored.part.box.rows();
  const at::Tensor numbers = state.is_cpu() ? state : at::empty(state.sizes(), at::kFloat);
  numbers.narrow(0, rows, numbers.size(0) - rows).zero_();
  if (rows > 0)
    if (auto filled = fill(stored.part.box, numbers.mutable_data_ptr<float>()); !filled)
      return filled;
  if (!state.is_cpu()) state.copy_(numbers);
  return {};
}

// From the init by seed, row by row where the box has not all columns.
void initialise(const recipe::Recipe& recipe, const checkpoint::Parameter& parameter,
                const recipe::Box& box, float* out) {
  const int64_t columns = parameter.columns();
  const auto rows = [&](int64_t begin, int64_t end, float* to) {
    model::fill(model::init_of(recipe.model, parameter.name), recipe.training.seed, parameter.name,
                begin * columns, (end - begin) * columns, to);
  };
  if (box.columns() == columns) return rows(box.row_begin, box.row_end, out);
  std::vector<float> whole(static_cast<size_t>(columns));
  for (int64_t row = box.row_begin; row < box.row_end; ++row, out += box.columns()) {
    rows(row, row + 1, whole.data());
    std::copy_n(whole.data() + box.column_begin, box.columns(), out);
  }
}

}  // namespace

std::vector<StoredState> stored_states(const recipe::Recipe& recipe, int64_t rank,
                                       const runtime::NamedTensors& states) {
  const StepSettings settings = settings_of(recipe);
  const recipe::Layout& layout = settings.layout;
  const recipe::Mesh& mesh = layout.mesh();
  std::vector<StoredState> stored;
  for (const checkpoint::Parameter& parameter : checkpoint::parameters(recipe.model)) {
    const recipe::Cut cut = recipe::cut_of(parameter.name);
    const recipe::Box box = layout.stored_box(parameter.name, parameter.shape, rank);
    const bool first_replica = mesh.index(rank, recipe::kReplicate) == 0;
    const bool first_alike = cut != recipe::Cut::none || mesh.index(rank, recipe::kTp) == 0;
    const auto add = [&](const std::string& name, bool writes) {
      for (const char* suffix : kStored)
        if (const auto state = states.find(name + suffix); state != states.end())
          stored.push_back({{parameter.name + suffix, parameter.shape, box},
                            state->second,
                            writes && first_replica && first_alike && box.rows() > 0});
    };
    add(parameter.name, true);
    // Tied embeddings at both ends of a pipeline are two states.
    if (settings.parallelism.ends_apart && parameter.name == "tok_embeddings.weight")
      add("output.weight", false);
  }
  return stored;
}

Result<> load_weights(const recipe::Recipe& recipe, int64_t rank,
                      const runtime::NamedTensors& states) {
  std::optional<checkpoint::Weights> source;
  if (!recipe.model.checkpoint.empty()) {
    auto opened = checkpoint::Weights::open(recipe.model.checkpoint, recipe.model);
    if (!opened) return fail(opened);
    source = std::move(*opened);
  }
  const std::vector<checkpoint::Parameter> parameters = checkpoint::parameters(recipe.model);
  for (const StoredState& stored : stored_states(recipe, rank, states)) {
    const auto parameter =
        std::ranges::find(parameters, stored.part.name, &checkpoint::Parameter::name);
    if (parameter == parameters.end()) continue;  // a moment
    const auto filled = fill_state(stored, [&](const recipe::Box& box, float* out) -> Result<> {
      if (source) return source->read(*parameter, box, out);
      initialise(recipe, *parameter, box, out);
      return {};
    });
    if (!filled) return filled;
  }
  return {};
}

Result<> load_checkpoint(const checkpoint::Checkpoint& source, const recipe::Recipe& recipe,
                         int64_t rank, const runtime::NamedTensors& states) {
  for (const StoredState& stored : stored_states(recipe, rank, states))
    if (auto filled =
            fill_state(stored, [&](const recipe::Box& box,
                                   float* out) { return source.read(stored.part.name, box, out); });
        !filled)
      return filled;
  return {};
}

void fill_tables(const recipe::Recipe& recipe, const runtime::NamedTensors& states) {
  const auto table = states.find("rope_table");
  if (table == states.end()) return;
  at::NoGradGuard no_grad;
  table->second.copy_(model::make_rope_table(recipe.model, table->second.size(0)));
}

at::Tensor gathered(const at::Tensor& mine, int64_t rows, const parallel::Group& group) {
  if (group.ranks == 1) return mine;
  at::NoGradGuard no_grad;
  return runtime::wait(runtime::all_gather({mine.contiguous()}, {rows}, group.name)).front();
}

at::Tensor whole(const checkpoint::Parameter& parameter, const runtime::NamedTensors& shards,
                 const std::string& name, const StepSettings& settings) {
  at::NoGradGuard no_grad;
  const auto [cut, local, sizes] = settings.layout.part_of(parameter.name, parameter.shape);
  const auto& [sharding, tensor, context, ends_apart] = settings.parallelism;
  const parallel::Group& tp = tensor.group;
  // One of a pipeline's ranks has it; the others add zeros.
  const auto found = shards.find(name);
  at::Tensor shard =
      found == shards.end()
          ? at::zeros(sizes, at::TensorOptions(at::kFloat).device(runtime::transport_device()))
          : found->second.detach();
  if (settings.layout.mesh().size(recipe::kPp) > 1)
    shard =
        runtime::wait(runtime::all_reduce({shard}, "sum", settings.layout.mesh().name(recipe::kPp)))
            .front();
  const at::Tensor part = gathered(shard, local[0], {sharding.ranks, sharding.group});
  if (cut == recipe::Cut::none || tp.ranks == 1) return part;
  const at::Tensor parts = gathered(part, local[0] * tp.ranks, tp);
  if (cut == recipe::Cut::rows) return parts.narrow(0, 0, parameter.rows());
  return parts.view({tp.ranks, local[0], local[1]}).transpose(0, 1).reshape(parameter.shape);
}

}  // namespace heddle::step
