#include "engine/predict/stage_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "engine/holdings/states.h"
#include "engine/passes/bucket_plan.h"
#include "engine/passes/schedule.h"
#include "engine/predict/like_layers.h"
#include "engine/predict/planner.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/stage_groups.h"

namespace heddle::predict {
namespace {

using passes::Action;
using passes::Part;

constexpr int64_t kPlannedMicroBatches = 3;  // micro-batches

/// Forward or backward of one micro-batch in one of a rank's stages, as it was simulated.
struct Block {
  double seconds = 0;     // of its compute, and of what each node of it waits for
  double until_sent = 0;  // when the neighbouring stage's part of it is there; 0: nothing is sent
  double compute = 0;
  double weights = 0;                  // of `seconds`: what leads to weight gradients alone
  double end = 0;                      // of its last node in the simulated step
  std::vector<telemetry::Span> spans;  // from the block's begin
};

/// A rank as its few planned micro-batches show it.
struct Kind {
  SimulatedRank rank;
  RankOutcome outcome;
  int64_t micro_batches = 0;                                   // that were planned
  std::map<std::tuple<bool, int64_t, int64_t>, Block> blocks;  // backward, turn, micro-batch
  double tail = 0, tail_compute = 0;  // gradients' last part, and the optimizer's
  plan::MemoryBytes kept;             // by one micro-batch for its backward pass
  /// The most that is in use while all forward passes are kept; once a backward pass has made the
  /// sums of gradients, and one less is kept; and while the optimizer works.
  plan::MemoryBytes first, later, last;
};

/// The micro-batch that was planned in place of `number` of `count`: the first and the last are
/// their own; one represents all between them.
int64_t planned_as(const Kind& kind, int64_t number, int64_t count) {
  if (number == 0) return 0;
  return number == count - 1 ? kind.micro_batches - 1 : 1;
}

class KindMaker {
 public:
  KindMaker(const recipe::Recipe& recipe, const recipe::Layout& layout, const Machine& machine,
            const PredictOptions& options, int64_t validation_bytes)
      : recipe_(recipe),
        layout_(layout),
        machine_(machine),
        options_(options),
        validation_bytes_(validation_bytes),
        model_(machine.rates) {}

  Result<Kind> make(int64_t pipeline_rank) {
    const int64_t pp = recipe_.parallelism.pp;
    Kind kind;
    kind.micro_batches = std::min(kPlannedMicroBatches, recipe_.micro_batches());
    recipe::Recipe few = recipe_;
    few.parallelism.stage_layers = pp > 1 ? layout_.stage_layers() : std::vector<int64_t>{};
    all_forward_first(few);
    const int64_t rank = pipeline_rank * (recipe_.hardware.ranks / pp);
    const auto capture = [&](const recipe::Recipe& of, step::Work work) {
      auto captured = options_.capture(of, work);
      if (captured) captured->graph.micro_batches = kind.micro_batches;
      return captured;
    };
    auto planned = capture_and_plan(few, rank, machine_.rates, step::Work::train, validation_bytes_,
                                    capture, options_.budgets);
    if (!planned) return fail(planned);
    const int64_t beyond = machine_.rates.process_bytes +
                           beyond_arena(planned->plan.memory, validation_bytes_) +
                           checkpoint_bytes(few, layout_, rank, planned->plan.graph);
    kind.rank = {rank, pipeline_rank, std::move(planned->plan), {}, {}};
    kind.rank.memory = cost::memory_use(kind.rank.plan.graph, kind.rank.plan.memory,
                                        holdings::states_of(few, layout_, rank), beyond);
    kind.rank.simulated = cost::simulate(program(kind.rank.plan.graph));
    kind.outcome = outcome_of(kind.rank, model_, false,
                              [&](const graph::Node& node) { return times(kind, node); });
    find_blocks(kind);
    find_kept(kind);
    find_peaks(kind);
    return kind;
  }

 private:
  /// Every block by itself. Zero-bubble, with room for all of them, puts no weight gradient off
  /// beyond its own micro-batch, but does gather again for it.
  void all_forward_first(recipe::Recipe& few) const {
    recipe::Parallelism& p = few.parallelism;
    const bool splits = p.pp_schedule == recipe::PipelineSchedule::zero_bubble;
    if (splits && layout_.stages() == p.pp) {
      p.zero_bubble_limit = 2 * p.pp + kPlannedMicroBatches;
    } else {
      p.pp_schedule = recipe::PipelineSchedule::gpipe;
    }
  }

  /// How often a micro-batch's planned node runs in the whole step.
  int64_t times(const Kind& kind, const graph::Node& node) const {
    if (node.phase == graph::Phase::optimizer) return 1;
    const int64_t count = recipe_.micro_batches();
    const auto is = [&](int64_t number) {
      return int64_t{planned_as(kind, number, count) == node.micro_batch};
    };
    return is(0) + (count > 2 ? (count - 2) * is(1) : 0) + (count > 1 ? is(count - 1) : 0);
  }

  static bool joins_stages(const graph::Node& collective) {
    return recipe::joins_stages(graph::group_of(collective));
  }

  /// The links between stages follow later: transfers with the schedule, and their agreements with
  /// the step's end.
  cost::RankProgram program(const graph::Graph& planned) const {
    return cost::program_of(planned, [&](const graph::Node& node) {
      if (!graph::is_collective(node)) return cost::Duration{model_.seconds(planned, node)};
      return joins_stages(node) ? cost::Duration{} : model_.transfer(planned, node);
    });
  }

  std::tuple<bool, int64_t, int64_t> block_key(const graph::Node& node) const {
    return {node.phase == graph::Phase::backward, node.stage / recipe_.parallelism.pp,
            node.micro_batch};
  }

  void find_blocks(Kind& kind) const {
    const graph::Graph& graph = kind.rank.plan.graph;
    const cost::Simulated& step = kind.rank.simulated;
    double before = 0;  // the end of the compute before
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const graph::Node& node = graph.nodes[i];
      if (graph::is_send(node)) {
        Block& block = kind.blocks[block_key(node)];
        block.until_sent = block.seconds;
      }
      const double seconds = step.compute[i].length();
      if (seconds <= 0) continue;
      const double with_wait = step.compute[i].end - before;
      before = step.compute[i].end;
      if (node.phase == graph::Phase::optimizer) {
        kind.tail_compute += seconds;
        kind.tail += with_wait;
        continue;
      }
      Block& block = kind.blocks[block_key(node)];
      block.seconds += with_wait;
      block.compute += seconds;
      if (node.weights_only) block.weights += with_wait;
      block.end = before;
    }
    kind.tail += step.step_seconds - before;
    // The norm of all gradients, which the update waits for.
    double agreement = 0;
    for (const graph::Node& node : graph.nodes)
      if (graph::is_all_reduce(node) && joins_stages(node))
        agreement = std::max(agreement, model_.transfer(graph, node).alone);
    kind.tail += agreement;
    if (options_.timeline) share_spans(kind);
  }

  /// Neighbours of one layer, or of one other module, become one span: a step has tens of
  /// thousands of them.
  void share_spans(Kind& kind) const {
    for (telemetry::Span& span : spans_of(kind.rank)) {
      if (span.phase == 2 || span.node < 0) continue;
      Block& block =
          kind.blocks[block_key(kind.rank.plan.graph.nodes[static_cast<size_t>(span.node)])];
      const auto begin = microseconds(block.end - block.seconds);
      span.start_us = std::max<int64_t>(span.start_us - begin, 0);
      std::vector<telemetry::Span>& spans = block.spans;
      const std::string layer(passes::block_of(span.module));
      if (span.stream == telemetry::kCompute && !layer.empty()) span.module = layer;
      const auto before = std::find_if(spans.rbegin(), spans.rend(), [&](const auto& each) {
        return each.stream == span.stream;
      });
      if (span.stream == telemetry::kCompute && before != spans.rend() &&
          before->module == span.module && before->phase == span.phase) {
        before->duration_us = span.start_us + span.duration_us - before->start_us;
        before->name = "compute";
      } else {
        span.node = -1;
        spans.push_back(std::move(span));
      }
    }
  }

  /// The growth of memory per micro-batch, from the end of the first to the end of the last
  /// forward pass.
  void find_kept(Kind& kind) const {
    if (kind.micro_batches < 2 || recipe_.parallelism.pp == 1) return;
    const graph::Graph& graph = kind.rank.plan.graph;
    std::array<size_t, 2> last{};
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const graph::Node& node = graph.nodes[i];
      if (node.phase == graph::Phase::forward && kind.rank.simulated.compute[i].length() > 0 &&
          node.stage / recipe_.parallelism.pp == 0)
        last[node.micro_batch == 0 ? 0 : 1] = i;
    }
    const auto& at = kind.rank.memory.at_node;
    for (size_t c = 0; c < plan::kCategories; ++c)
      kind.kept.bytes[c] = std::max<int64_t>(at[last[1]].bytes[c] - at[last[0]].bytes[c], 0) /
                           (kind.micro_batches - 1);
  }

  void find_peaks(Kind& kind) const {
    const std::vector<graph::Node>& nodes = kind.rank.plan.graph.nodes;
    size_t sums = 0;  // the end of each stage's first backward pass
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].phase == graph::Phase::backward && nodes[i].micro_batch == 0) sums = i;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const plan::MemoryBytes& here = kind.rank.memory.at_node[i];
      plan::MemoryBytes& most = nodes[i].phase == graph::Phase::optimizer ? kind.last
                                : i <= sums                               ? kind.first
                                                                          : kind.later;
      if (here.total() > most.total()) most = here;
    }
  }

  const recipe::Recipe& recipe_;
  const recipe::Layout& layout_;
  const Machine& machine_;
  const PredictOptions& options_;
  int64_t validation_bytes_;
  cost::CostModel model_;
};

passes::TurnSeconds seconds_of(const Kind& kind, const Action& action, int64_t pp, int64_t count) {
  const auto found = kind.blocks.find({action.part != Part::forward, action.stage / pp,
                                       planned_as(kind, action.micro_batch, count)});
  if (found == kind.blocks.end()) return {};
  const Block& block = found->second;
  if (action.part == Part::weights) return {block.weights, block.weights};
  const double whole = block.seconds - (action.part == Part::inputs ? block.weights : 0.0);
  return {whole, block.until_sent > 0 ? std::min(block.until_sent, whole) : whole};
}

/// Micro-batches whose forward has ended and whose backward has not, at most: until each of the
/// rank's stages has ended a backward pass, and after that.
struct UnderWay {
  int64_t first = 0, later = 0;
  int64_t most() const { return std::max(first, later); }
};

UnderWay under_way(const std::vector<passes::Turn>& turns) {
  std::set<int32_t> stages, ended;
  for (const passes::Turn& turn : turns) stages.insert(turn.action.stage);
  UnderWay most;
  int64_t now = 0;
  for (const passes::Turn& turn : turns) {
    if (turn.action.part == Part::forward) ++now;
    int64_t& here = ended.size() < stages.size() ? most.first : most.later;
    here = std::max(here, now);
    if (turn.action.part == Part::forward || turn.action.part == Part::inputs) continue;
    --now;
    ended.insert(turn.action.stage);
  }
  return most;
}

/// Seconds of a stage's transfer to the next one, alone on its way; 0 without a pipeline.
double transfer_seconds(const Kind& kind, const cost::CostModel& cost) {
  const graph::Graph& graph = kind.rank.plan.graph;
  for (const graph::Node& node : graph.nodes)
    if (graph::is_send(node)) return cost.transfer(graph, node).alone;
  return 0;
}

/// A rank's step put together from its kind's blocks.
class Assembler {
 public:
  Assembler(const recipe::Recipe& recipe, const std::vector<int64_t>& layers, const Kind& kind,
            int64_t pipeline_rank)
      : kind_(kind),
        like_(layers, recipe.parallelism.pp, kind.rank.stage, pipeline_rank),
        pp_(recipe.parallelism.pp),
        count_(recipe.micro_batches()),
        stage_(pipeline_rank),
        rank_(pipeline_rank * (recipe.hardware.ranks / pp_)) {}

  RankOutcome assemble(const std::vector<passes::Turn>& turns, double step_seconds,
                       bool with_timeline) {
    RankOutcome outcome = kind_.outcome;
    outcome.plan_hash.clear();
    outcome.timeline = {rank_, {}, {}};
    plan::RankFigures& figures = outcome.figures;
    figures.rank = rank_;
    figures.stage = stage_;
    figures.step_seconds = step_seconds;
    figures.compute_seconds = kind_.tail_compute;
    figures.exposed_seconds = kind_.tail - kind_.tail_compute;
    for (const passes::Turn& turn : turns) {
      const Block* block = block_of(turn.action);
      if (!block) continue;
      const double share = block->seconds > 0 ? (turn.end - turn.begin) / block->seconds : 0;
      figures.compute_seconds += block->compute * share;
      figures.exposed_seconds += (block->seconds - block->compute) * share;
    }
    figures.bubble_seconds =
        std::max(0.0, step_seconds - figures.compute_seconds - figures.exposed_seconds);
    figures.idle_seconds = 0;
    memory(figures, turns);
    for (plan::Exposed& exposed : outcome.exposed) {
      exposed.rank = rank_;
      exposed.node = like_.renamed(exposed.node);
    }
    for (plan::BucketFigures& bucket : outcome.buckets) {
      bucket.stage = stage_;
      bucket.name = like_.renamed(bucket.name);
      for (std::string& module : bucket.modules) module = like_.renamed(module);
    }
    if (with_timeline) timeline(outcome.timeline, turns, step_seconds, figures);
    return outcome;
  }

 private:
  const Block* block_of(const Action& action) const {
    const bool backward = action.part != Part::forward;
    const auto found = kind_.blocks.find(
        {backward, action.stage / pp_, planned_as(kind_, action.micro_batch, count_)});
    return found == kind_.blocks.end() ? nullptr : &found->second;
  }

  void memory(plan::RankFigures& figures, const std::vector<passes::Turn>& turns) const {
    if (pp_ == 1) return;
    const UnderWay held = under_way(turns);
    const auto stages =
        static_cast<int64_t>(std::ranges::count_if(turns, [](const passes::Turn& turn) {
          return turn.action.part == Part::forward && turn.action.micro_batch == 0;
        }));
    const auto with_more = [&](const plan::MemoryBytes& planned, int64_t more) {
      plan::MemoryBytes bytes = planned;
      for (size_t c = 0; c < plan::kCategories; ++c)
        bytes.bytes[c] = std::max<int64_t>(bytes.bytes[c] + more * kind_.kept.bytes[c], 0);
      return bytes;
    };
    figures.memory = kind_.last;
    for (const plan::MemoryBytes& bytes :
         {with_more(kind_.first, held.first - kind_.micro_batches * stages),
          with_more(kind_.later, held.later - (kind_.micro_batches - 1))})
      if (bytes.total() > figures.memory.total()) figures.memory = bytes;
    figures.peak_bytes = figures.memory.total();
  }

  void timeline(plan::RankTimeline& timeline, const std::vector<passes::Turn>& turns,
                double step_seconds, const plan::RankFigures& figures) const {
    double free = 0;
    int64_t now = 0;
    const int64_t most = std::max<int64_t>(under_way(turns).most(), 1);
    const auto wait_until = [&](double time, uint8_t phase) {
      if (time - free > step_seconds * 1e-4)
        timeline.spans.push_back({"bubble", "", microseconds(free), microseconds(time - free),
                                  telemetry::kBubble, phase, -1});
    };
    const auto remember = [&](double time) {
      plan::MemoryMoment moment{microseconds(time), figures.memory};
      for (size_t c = 0; c < plan::kCategories; ++c)
        moment.bytes.bytes[c] -= (most - now) * kind_.kept.bytes[c];
      timeline.memory.push_back(moment);
    };
    for (const passes::Turn& turn : turns) {
      const bool backward = turn.action.part != Part::forward;
      wait_until(turn.begin, backward ? 1 : 0);
      if (!backward) ++now;
      remember(turn.begin);
      add_spans(timeline, turn);
      if (turn.action.part == Part::backward || turn.action.part == Part::weights) --now;
      remember(turn.end);
      free = turn.end;
    }
    const double tail = step_seconds - kind_.tail;
    wait_until(tail, 2);
    timeline.spans.push_back(
        {"update", "", microseconds(tail), microseconds(kind_.tail_compute), 0, 2, -1});
  }

  void add_spans(plan::RankTimeline& timeline, const passes::Turn& turn) const {
    const Block* block = block_of(turn.action);
    if (!block) return;
    if (turn.action.part == Part::inputs || turn.action.part == Part::weights) {
      timeline.spans.push_back({turn.action.part == Part::inputs ? "backward" : "weight gradients",
                                "micro-batch " + std::to_string(turn.action.micro_batch + 1),
                                microseconds(turn.begin), microseconds(turn.end - turn.begin), 0, 1,
                                -1});
      return;
    }
    for (telemetry::Span span : block->spans) {
      span.start_us += microseconds(turn.begin);
      span.module = like_.renamed(span.module);
      timeline.spans.push_back(std::move(span));
    }
  }

  const Kind& kind_;
  LikeLayers like_;
  int64_t pp_, count_, stage_, rank_;
};

}  // namespace

Result<std::vector<RankOutcome>> steps_by_parts(const recipe::Recipe& recipe,
                                                const Machine& machine,
                                                const PredictOptions& options,
                                                const graph::Graph& captured,
                                                int64_t validation_bytes) {
  const int64_t pp = recipe.parallelism.pp;
  const recipe::Layout layout(recipe);
  const std::vector<int64_t>& layers = layout.stage_layers();
  const passes::PlanOptions asked = plan_options(recipe, layout, 0, captured);
  KindMaker maker(recipe, layout, machine, options, validation_bytes);
  std::map<std::string, Kind> kinds;  // by what is planned
  std::vector<const Kind*> kind_of;
  for (int64_t rank = 0; rank < pp; ++rank) {
    if (options.cancelled()) return fail("{}", kCancelled);
    std::string planned = planning_key(layout, asked, rank);
    auto known = kinds.find(planned);
    if (known == kinds.end()) {
      auto kind = maker.make(rank);
      if (!kind) return fail(kind);
      known = kinds.emplace(std::move(planned), std::move(*kind)).first;
    }
    kind_of.push_back(&known->second);
  }

  const int64_t count = recipe.micro_batches();
  const passes::Pipeline pipeline = pipeline_of(recipe, static_cast<int64_t>(layers.size()), count);
  std::vector<std::vector<passes::Turn>> turns = passes::timetable(
      pipeline,
      [&](const Action& action) {
        return seconds_of(*kind_of[static_cast<size_t>(action.stage % pp)], action, pp, count);
      },
      transfer_seconds(*kind_of.front(), cost::CostModel(machine.rates)));
  double step_seconds = 0;
  for (size_t rank = 0; rank < turns.size(); ++rank)
    if (!turns[rank].empty())
      step_seconds = std::max(step_seconds, turns[rank].back().end + kind_of[rank]->tail);
  std::vector<RankOutcome> outcomes;
  for (int64_t rank = 0; rank < pp; ++rank)
    outcomes.push_back(
        Assembler(recipe, layers, *kind_of[static_cast<size_t>(rank)], rank)
            .assemble(turns[static_cast<size_t>(rank)], step_seconds, options.timeline));
  return outcomes;
}

}  // namespace heddle::predict
