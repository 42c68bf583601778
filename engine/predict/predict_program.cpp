#include "engine/predict/predict_program.h"

#include <algorithm>

#include "base/clock.h"
#include "engine/cost/program_memory.h"
#include "engine/cost/program_time.h"
#include "engine/predict/published_interval.h"
#include "engine/predict/throughput.h"
#include "engine/recipe/mesh.h"

namespace heddle::predict {
namespace {

/// A layer of the recipe by itself, on the ranks that share it, one micro-batch a step.
recipe::Recipe one_layer_of(const recipe::Recipe& recipe) {
  recipe::Recipe one = recipe;
  one.model.n_layers = 1;
  one.training.local_batch = one.training.global_batch = recipe.micro_batch_size();
  one.training.loss_chunks = 1;
  recipe::Parallelism& p = one.parallelism;
  static_cast<recipe::Degrees&>(p) = recipe::keep_degrees(p, recipe::kMicroBatch);
  p.microbatches = p.tp_chunks = 1;
  p.stage_layers = {1};
  p.dp_shard_states = recipe::ShardStates::all;
  p.async_tp = false;
  one.hardware.ranks = recipe::Mesh(p).size();
  one.hardware.device = "cuda";
  one.recompute = {};
  one.overrides.clear();
  one.wrapping = {};
  one.wrapping.mode = recipe::WrappingMode::none;
  return one;
}

}  // namespace

Result<plan::Document> predict_program(const recipe::Recipe& recipe, const Machine& machine,
                                       const PredictOptions& options) {
  const auto begin = Clock::now();
  const auto& [program, entry] = *machine.program;
  const recipe::Recipe one = one_layer_of(recipe);
  const auto captured = options.capture(one, step::Work::train);
  if (!captured) return fail(captured);

  const cost::ProgramShape shape = cost::program_shape(recipe, entry.node.devices);
  const cost::StepParts parts = cost::step_parts(captured->graph, cost::CostModel(machine.rates));
  const cost::ProgramTime time =
      cost::program_time(shape, parts, program, entry, machine.rates.device->bytes_per_second);

  plan::Document document;
  document.hardware = machine.name;
  document.hardware_words = machine.words;
  document.executor = options.executor;
  document.ranks = recipe.hardware.ranks;
  document.limit_bytes = machine.limit_bytes;
  document.peak_flops = machine.peak_flops;
  document.sources = machine.sources;
  document.remarks = machine.remarks;
  document.choice = "as " + program.title + " does it";
  document.step_seconds = time.step;
  document.exposed_seconds = time.exposed;
  document.bubble_seconds = time.bubble;

  const int64_t outside =
      machine.rates.process_bytes + static_cast<int64_t>(program.outside_gib.value * (1 << 30));
  for (int64_t rank = 0; rank < shape.pp; ++rank) {
    cost::ProgramMemory memory = cost::program_memory(shape, rank, program);
    memory.reserved[plan::Category::other] = outside;
    const int64_t live = memory.live + outside, reserved = memory.reserved.total();
    // The allocator gives back what it has cached before it fails.
    const bool fits = live <= document.limit_bytes;
    plan::RankFigures figures{.rank = rank * (recipe.hardware.ranks / shape.pp),
                              .stage = rank,
                              .ranks = recipe.hardware.ranks / shape.pp,
                              .step_seconds = time.step,
                              .compute_seconds = time.compute,
                              .exposed_seconds = time.exposed + time.apart,
                              .bubble_seconds = time.bubble,
                              .peak_bytes = fits ? std::min(reserved, document.limit_bytes) : live,
                              .memory = memory.reserved};
    if (figures.peak_bytes > document.peak_bytes) {
      document.peak_bytes = figures.peak_bytes;
      document.peak_rank = rank;
      document.memory = figures.memory;
    }
    document.ranks_shown.push_back(std::move(figures));
  }
  add_published_interval(document, program, machine.eight_bits, shape.nodes);
  add_throughput(document, recipe, machine.eight_bits);
  document.plan_seconds = seconds_since(begin);
  return document;
}

}  // namespace heddle::predict
