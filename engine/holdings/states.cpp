#include "engine/holdings/states.h"

#include "engine/holdings/parameters.h"
#include "engine/optim/optimizer.h"

namespace heddle::holdings {
namespace {

/// A checkpoint names a parameter's states after the parameter. A tied copy's have the original's
/// name, and only the original is written.
Stored stored_as(const State& state, const Parameter& parameter, const recipe::Mesh& mesh,
                 int64_t rank) {
  const std::string& name = parameter.copy_of.empty() ? state.of : parameter.copy_of;
  const Box box = stored_box(parameter.shape, parameter.cut, mesh, rank);
  const bool is_first = mesh.index(rank, parameter.shared_by) == 0;
  return {{name + state.name.substr(state.of.size()), parameter.shape, box},
          parameter.copy_of.empty() && is_first && box.rows() > 0};
}

}  // namespace

State shard_of(const Parameter& parameter) {
  return {.name = parameter.name(),
          .role = Role::parameter,
          .of = parameter.name(),
          .shape = parameter.shard};
}

std::vector<State> optimizer_states(const recipe::Recipe& recipe, const Parameter& parameter) {
  const recipe::Optimizer& settings = recipe.optimizer;
  std::vector<State> states;
  for (optim::State& each :
       optim::optimizer_of(settings.name).states(parameter.shard, settings.settings))
    states.push_back({.name = parameter.name() + "." + each.name,
                      .role = Role::optimizer,
                      .of = parameter.name(),
                      .shape = std::move(each.shape),
                      .element = each.element,
                      .place = each.place});
  return states;
}

State gradient_sum(const recipe::Recipe& recipe, const Parameter& parameter) {
  const bool of_shards = recipe.wrapping.reduce_each == recipe::ReduceEach::micro_batch;
  return {.name = parameter.name() + ".grad",
          .role = Role::gradient_sum,
          .of = parameter.name(),
          .shape = of_shards ? parameter.shard : parameter.local};
}

std::vector<State> states_of(const recipe::Recipe& recipe, const Parameter& parameter) {
  std::vector<State> states = optimizer_states(recipe, parameter);
  states.insert(states.begin(), shard_of(parameter));
  if (recipe.micro_batches() > 1) states.push_back(gradient_sum(recipe, parameter));
  return states;
}

double optimizer_bytes_a_number(const recipe::Recipe& recipe) {
  int64_t bytes = 0, numbers = 0;
  for (const Parameter& parameter : parameters_of(recipe.model)) {
    numbers += elements_of(parameter.shape);
    for (const State& state : optimizer_states(recipe, parameter)) bytes += state.bytes();
  }
  return static_cast<double>(bytes) / static_cast<double>(numbers);
}

State loss_sum() { return {.name = "loss_sum", .role = Role::gradient_sum}; }

State validation_loss_sum() { return {.name = "validation_loss_sum", .role = Role::gradient_sum}; }

State rope_table(const recipe::Recipe& recipe) {
  return {.name = "rope_table",
          .role = Role::table,
          .shape = {recipe.data.seq_len, recipe.model.head_size() / 2, 2}};
}

std::vector<State> states_of(const recipe::Recipe& recipe, const recipe::Layout& layout,
                             int64_t rank) {
  const int64_t pp = recipe.parallelism.pp, here = layout.mesh().index(rank, recipe::kPp);
  std::vector<State> all;
  for (const Parameter& parameter : parameters_of(recipe, layout)) {
    if (parameter.stage % pp != here) continue;
    for (State& state : states_of(recipe, parameter)) {
      if (state.role != Role::gradient_sum)
        state.stored = stored_as(state, parameter, layout.mesh(), rank);
      all.push_back(std::move(state));
    }
  }
  all.push_back(loss_sum());
  all.push_back(rope_table(recipe));
  return all;
}

}  // namespace heddle::holdings
