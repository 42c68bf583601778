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

const Names<ContextMode>& context_modes() {
  static const Names<ContextMode> names = {{"allgather", ContextMode::allgather},
                                           {"ring", ContextMode::ring},
                                           {"ulysses", ContextMode::ulysses}};
  return names;
}

}  // namespace

std::vector<Field> parallelism_fields() {
  using R = Recipe;
  return {
      integer("parallelism.dp_replicate", &R::parallelism, &Parallelism::dp_replicate, 1, kMaxRanks)
          .says("dp_replicate", "ranks", "Copies of the model that each work on other data.")
          .often()
          .steps(Step::doubling)
          .graph(),
      dp_shard_field()
          .says("dp_shard", "ranks",
                "Ranks over which parameters, gradients and optimizer states are sharded; -1: what "
                "is left of the ranks.")
          .often()
          .zero("rest")
          .steps(Step::doubling)
          .graph(),
      choice("parallelism.dp_shard_states", &R::parallelism, &Parallelism::dp_shard_states,
             shard_states())
          .says("sharded states", "",
                "What dp_shard shards: all (ZeRO-3), gradients and optimizer states (ZeRO-2), or "
                "optimizer states alone (ZeRO-1). Parameters that are not sharded are gathered "
                "once a step; gradients that are not, reduced once a step.")
          .names({"all: ZeRO-3", "gradients, states: ZeRO-2", "states alone: ZeRO-1"})
          .graph(),
      integer("parallelism.tp", &R::parallelism, &Parallelism::tp, 1, kMaxRanks)
          .says("tp", "ranks", "Tensor parallelism: each matrix is cut over so many ranks.")
          .often()
          .steps(Step::doubling)
          .graph(),
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
          .graph(),
      integer("parallelism.pp", &R::parallelism, &Parallelism::pp, 1, kMaxRanks)
          .says("pp", "ranks",
                "Pipeline parallelism: the layers are cut into stages, one after the other.")
          .often()
          .steps(Step::doubling)
          .graph(),
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
          .says("stage layers", "layers", "Layers of each stage, by hand.")
          .zero("even")
          .graph("stage"),
      integer("parallelism.cp", &R::parallelism, &Parallelism::cp, 1, kMaxRanks)
          .says("cp", "ranks", "Context parallelism: each sequence is cut over so many ranks.")
          .often()
          .steps(Step::doubling)
          .graph(),
      choice("parallelism.cp_mode", &R::parallelism, &Parallelism::cp_mode, context_modes())
          .says("context", "", "How context-parallel ranks see each other's keys and values.")
          .often()
          .names({"gather keys and values", "ring", "Ulysses: exchange heads"})
          .graph()};
}

}  // namespace heddle::recipe
