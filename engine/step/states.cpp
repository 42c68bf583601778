#include "engine/step/states.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "engine/checkpoint/weights.h"
#include "engine/holdings/parameters.h"
#include "engine/holdings/states.h"
#include "engine/model/init.h"
#include "engine/model/rope_table.h"
#include "engine/recipe/layout.h"
#include "engine/runtime/collectives.h"
#include "engine/runtime/process_groups.h"

namespace heddle::step {

namespace {

// Fills the numbers of a box of a parameter.
using Fill = std::function<Result<>(const holdings::Box& box, float* out)>;

// Numbers come as fp32, on the CPU; a state of another type or device takes them over from there.
Result<> fill_state(const StoredState& stored, const Fill& fill) {
  at::NoGradGuard no_grad;
  const at::Tensor& state = stored.tensor;
  const int64_t rows = stored.part().box.rows();
  const bool in_place = state.is_cpu() && state.scalar_type() == at::kFloat;
  const at::Tensor numbers = in_place ? state : at::empty(state.sizes(), at::kFloat);
  numbers.narrow(0, rows, numbers.size(0) - rows).zero_();
  if (rows > 0)
    if (auto filled = fill(stored.part().box, numbers.mutable_data_ptr<float>()); !filled)
      return filled;
  if (!in_place) state.copy_(numbers);
  return {};
}

// From the init by seed, row by row where the box has not all columns.
void initialise(const recipe::Recipe& recipe, const holdings::Parameter& parameter,
                const holdings::Box& box, float* out) {
  const int64_t columns = parameter.columns();
  const auto rows = [&](int64_t begin, int64_t end, float* to) {
    model::fill(model::init_of(recipe.model, parameter.name()), recipe.training.seed,
                parameter.name(), begin * columns, (end - begin) * columns, to);
  };
  if (box.columns() == columns) return rows(box.row_begin, box.row_end, out);
  std::vector<float> whole(static_cast<size_t>(columns));
  for (int64_t row = box.row_begin; row < box.row_end; ++row, out += box.columns()) {
    rows(row, row + 1, whole.data());
    std::copy_n(whole.data() + box.column_begin, box.columns(), out);
  }
}

}  // namespace

c10::ScalarType dtype_of(holdings::Element element) {
  switch (element) {
    case holdings::Element::fp32:
      return at::kFloat;
    case holdings::Element::bf16:
      return at::kBFloat16;
    case holdings::Element::blocks_of_8_bits:
    case holdings::Element::blocks_of_4_bits:
      break;
  }
  return at::kByte;
}

std::vector<StoredState> stored_states(const recipe::Recipe& recipe, int64_t rank,
                                       const runtime::NamedTensors& states) {
  std::vector<StoredState> stored;
  for (holdings::State& state : holdings::states_of(recipe, recipe::Layout(recipe), rank)) {
    const auto tensor = states.find(state.name);
    if (state.stored && tensor != states.end())
      stored.push_back({std::move(state), tensor->second});
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
  std::map<std::string, holdings::Parameter> parameters;
  for (holdings::Parameter& each : holdings::parameters_of(recipe.model))
    parameters.emplace(each.name(), std::move(each));
  for (const StoredState& stored : stored_states(recipe, rank, states)) {
    if (stored.row.role != holdings::Role::parameter) {
      at::NoGradGuard no_grad;
      stored.tensor.zero_();
      continue;
    }
    const holdings::Parameter& parameter = parameters.at(stored.part().name);
    const auto filled = fill_state(stored, [&](const holdings::Box& box, float* out) -> Result<> {
      if (source) return source->read(parameter, box, out);
      initialise(recipe, parameter, box, out);
      return {};
    });
    if (!filled) return filled;
  }
  return {};
}

Result<> load_checkpoint(const checkpoint::Checkpoint& source, const recipe::Recipe& recipe,
                         int64_t rank, const runtime::NamedTensors& states) {
  for (const StoredState& stored : stored_states(recipe, rank, states))
    if (auto filled = fill_state(stored,
                                 [&](const holdings::Box& box, float* out) {
                                   return source.read(stored.part().name, box, out);
                                 });
        !filled)
      return filled;
  return {};
}

void fill_tables(const recipe::Recipe& recipe, const runtime::NamedTensors& states) {
  const auto table = states.find(holdings::rope_table(recipe).name);
  if (table == states.end()) return;
  at::NoGradGuard no_grad;
  table->second.copy_(model::make_rope_table(recipe.model, table->second.size(0)));
}

at::Tensor gathered(const at::Tensor& mine, int64_t rows, const parallel::Group& group) {
  if (group.ranks == 1) return mine;
  at::NoGradGuard no_grad;
  return runtime::wait(runtime::all_gather({mine.contiguous()}, {rows}, group.name)).front();
}

at::Tensor whole(const holdings::Parameter& parameter, const runtime::NamedTensors& shards,
                 const std::string& name, const StepSettings& settings) {
  at::NoGradGuard no_grad;
  const model::Sharding& sharding = settings.parallelism.sharding;
  const parallel::Group& tp = settings.parallelism.tensor.group;
  const std::vector<int64_t>& local = parameter.local;
  // One of a pipeline's ranks has it; the others add zeros.
  const auto found = shards.find(name);
  at::Tensor shard =
      found == shards.end()
          ? at::zeros(parameter.shard,
                      at::TensorOptions(at::kFloat).device(runtime::transport_device()))
          : found->second.detach();
  if (settings.layout.mesh().size(recipe::kPp) > 1)
    shard =
        runtime::wait(runtime::all_reduce({shard}, "sum", settings.layout.mesh().name(recipe::kPp)))
            .front();
  const at::Tensor part = gathered(shard, local[0], {sharding.ranks, sharding.group});
  if (!parameter.is_cut() || tp.ranks == 1) return part;
  const at::Tensor parts = gathered(part, local[0] * tp.ranks, tp);
  if (parameter.cut == recipe::Cut::rows) return parts.narrow(0, 0, parameter.rows());
  return parts.view({tp.ranks, local[0], local[1]}).transpose(0, 1).reshape(parameter.shape);
}

}  // namespace heddle::step
