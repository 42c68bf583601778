#include "engine/recipe/parallelism_fields.h"

#include "engine/recipe/fields.h"
#include "engine/recipe/limits.h"
#include "engine/recipe/special_fields.h"

namespace heddle::recipe {
namespace {

const Names<ShardStates>& shard_states() {
  static const Names<ShardStates> names = {{"all", ShardStates::all},
                                           {"gradients", ShardStates::gradients},
                                           {"optimizer", ShardStates::optimizer}};
  return names;
}

const Names<PipelineSchedule>& pipeline_schedules() {
  static const Names<PipelineSchedule> names = {{"gpipe", PipelineSchedule::gpipe},
                                                {"1f1b", PipelineSchedule::one_f_one_b},
                                                {"interleaved", PipelineSchedule::interleaved},
                                                {"zero-bubble", PipelineSchedule::zero_bubble}};
  return names;
}

const Names<ContextMode>& context_mode_names() {
  static const Names<ContextMode> names = {{"allgather", ContextMode::allgather},
                                           {"ring", ContextMode::ring},
                                           {"ulysses", ContextMode::ulysses}};
  return names;
}

using R = Recipe;

std::vector<Field> shard_modes() {
  return {
      choice("parallelism.dp_shard_states", &R::parallelism, &Parallelism::dp_shard_states,
             shard_states())
          .says("sharded states", "",
                "What dp_shard shards: all (ZeRO-3), gradients and optimizer states (ZeRO-2), or "
                "optimizer states alone (ZeRO-1). Parameters that are not sharded are gathered "
                "once a step; gradients that are not, reduced once a step.")
          .names({"all: ZeRO-3", "gradients, states: ZeRO-2", "states alone: ZeRO-1"})
          .graph()};
}

std::vector<Field> tensor_modes() {
  return {
      boolean("parallelism.sequence_parallel", &R::parallelism, &Parallelism::sequence_parallel)
          .says("sequence parallel", "",
                "Between its matrices a tensor-parallel rank holds a part of the sequence.")
          .graph(),
      integer("parallelism.tp_chunks", &R::parallelism, &Parallelism::tp_chunks, 0, kMaxRanks)
          .says("tp chunks", "",
                "Parts that a tensor-parallel product is cut into, so that one is sent while the "
                "next is computed; 0: 2 where they divide.")
          .zero("auto")
          .steps(Step::one)
          .graph(),
      boolean("parallelism.tp_gather_again", &R::parallelism, &Parallelism::tp_gather_again)
          .says("gather again", "",
                "With sequence parallelism: backward gathers the input of a layer's products again "
                "instead of keeping it. That frees memory and costs two more gathers a layer.")
          .graph("recompute"),
      boolean("parallelism.async_tp", &R::parallelism, &Parallelism::async_tp)
          .says("async tp", "",
                "Tensor-parallel gathers and products in one kernel, as torch.compile fuses them: "
                "for planning.")
          .graph()};
}

std::vector<Field> pipeline_modes() {
  return {
      choice("parallelism.pp_schedule", &R::parallelism, &Parallelism::pp_schedule,
             pipeline_schedules())
          .says("schedule", "",
                "In which order a stage takes the micro-batches forward and backward.")
          .often()
          .names({"GPipe", "1F1B", "interleaved: several stages a rank", "zero bubble"})
          .graph("stage"),
      integer("parallelism.zero_bubble_limit", &R::parallelism, &Parallelism::zero_bubble_limit, 0,
              kMaxTokens)
          .says("zero bubble holds", "micro-batches",
                "Schedule zero-bubble: micro-batches whose activations a rank holds at one time, "
                "at most; more of them leave a smaller bubble. 0: no more memory than 1F1B takes; "
                "as many as pp: ZB-H1 as published; 2 pp - 1: ZB-H2.")
          .zero("as 1F1B")
          .steps(Step::one)
          .graph("stage"),
      integer("parallelism.microbatches", &R::parallelism, &Parallelism::microbatches, 0,
              kMaxTokens)
          .says("microbatches", "",
                "Parts of a rank's batch that go through the pipeline one after the other; 0: as "
                "many as stages.")
          .often()
          .zero("auto")
          .steps(Step::doubling)
          .graph(),
      stage_layers_field()
          .says("stage layers", "layers", "Layers of each stage.")
          .zero("even")
          .graph("stage")};
}

std::vector<Field> context_modes() {
  return {
      choice("parallelism.cp_mode", &R::parallelism, &Parallelism::cp_mode, context_mode_names())
          .says("context", "", "How context-parallel ranks see each other's keys and values.")
          .often()
          .names({"gather keys and values", "ring", "Ulysses: exchange heads"})
          .graph()};
}

/// How ranks along an axis work together.
std::vector<Field> modes_of(const Axis& axis) {
  switch (axis.dim) {
    case kShard:
      return shard_modes();
    case kTp:
      return tensor_modes();
    case kPp:
      return pipeline_modes();
    case kCp:
      return context_modes();
    default:
      return {};
  }
}

Field degree_field(const Axis& axis) {
  Field field = axis.takes_rest
                    ? rest_field(axis)
                    : integer<Parallelism>(axis.key(), &R::parallelism, axis.degree, 1, kMaxRanks);
  return std::move(field)
      .says(std::string(axis.name), "ranks", std::string(axis.help))
      .often()
      .zero(axis.takes_rest ? "rest" : "")
      .steps(Step::doubling)
      .graph();
}

}  // namespace

std::vector<Field> parallelism_fields() {
  std::vector<Field> fields;
  for (const Axis* axis : kAxesAsWritten) {
    fields.push_back(degree_field(*axis));
    for (Field& mode : modes_of(*axis)) fields.push_back(std::move(mode));
  }
  return fields;
}

}  // namespace heddle::recipe
