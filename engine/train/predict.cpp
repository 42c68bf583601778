#include "engine/train/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/clock.h"
#include "engine/cost/exposed.h"
#include "engine/cost/memory_use.h"
#include "engine/cost/simulate.h"
#include "engine/recipe/modules.h"
#include "engine/train/machine.h"
#include "engine/train/plan_hash.h"
#include "engine/train/planner.h"

namespace heddle::train {
namespace {

using graph::Node;

constexpr size_t kMostMoments = 2000;  // of a memory curve
constexpr size_t kMostExposed = 24;

/// A pipeline rank's plan, and what comes of it.
struct Stage {
  int64_t rank = 0;
  passes::Plan plan;
  cost::MemoryUse memory;
  cost::Simulated simulated;
};

int64_t microseconds(double seconds) { return std::llround(seconds * 1e6); }

std::string name_of(const Node& node) {
  return node.op.text().substr(node.op.text().find('.') + 1);
}

/// "all_gather layers.3 (backward)".
std::string node_text(const Node& node) {
  return fmt::format("{}{}{} ({})", name_of(node), node.module.empty() ? "" : " ",
                     node.module.text(), graph::name_of(node.phase));
}

std::vector<telemetry::Span> spans_of(const Stage& stage) {
  std::vector<telemetry::Span> spans;
  const auto add = [&](size_t i, const cost::Interval& interval, uint8_t stream) {
    const int64_t begin = microseconds(interval.begin);
    const int64_t length = microseconds(interval.end) - begin;
    if (length <= 0) return;
    const Node& node = stage.plan.graph.nodes[i];
    spans.push_back({name_of(node), node.module.text(), begin, length, stream,
                     static_cast<uint8_t>(node.phase), static_cast<int32_t>(i)});
  };
  for (size_t i = 0; i < stage.plan.graph.nodes.size(); ++i) {
    const Node& node = stage.plan.graph.nodes[i];
    if (graph::is_collective(node)) {
      add(i, stage.simulated.transfers[i].moving, 1);
      add(i, stage.simulated.transfers[i].bubble, 2);
    } else {
      add(i, stage.simulated.compute[i], 0);
    }
  }
  for (const cost::Carried& carried : stage.simulated.carried) add(carried.node, carried.moving, 1);
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto& a, const auto& b) { return a.start_us < b.start_us; });
  return spans;
}

/// At the begin of each node that computes; of neighbours that are too many the one that needs
/// most.
std::vector<plan::MemoryMoment> curve_of(const Stage& stage) {
  std::vector<plan::MemoryMoment> curve;
  const size_t nodes = stage.memory.at_node.size();
  const size_t every = nodes / kMostMoments + 1;
  double now = 0;
  for (size_t first = 0; first < nodes; first += every) {
    size_t most = first;
    const size_t end = std::min(first + every, nodes);
    for (size_t i = first; i < end; ++i)
      if (stage.memory.at_node[i].total() > stage.memory.at_node[most].total()) most = i;
    curve.push_back({microseconds(now), stage.memory.at_node[most]});
    for (size_t i = first; i < end; ++i) now = std::max(now, stage.simulated.compute[i].end);
  }
  return curve;
}

/// Bytes that a rank moves for a collective: its part of a ring.
int64_t moved_bytes(const graph::Graph& graph, const Node& collective) {
  const int64_t whole = cost::whole_bytes(graph, collective);
  if (graph::is_send(collective) || graph::is_receive(collective)) return whole;
  const int64_t ranks = graph::ranks_of(graph, collective);
  const int64_t once = whole / ranks * (ranks - 1);
  return graph::gathers(collective) || graph::scatters(collective) || graph::is_exchange(collective)
             ? once
             : 2 * once;
}

class Writer {
 public:
  Writer(const recipe::Recipe& recipe, const Machine& machine, std::vector<Stage>& stages)
      : recipe_(recipe), machine_(machine), stages_(stages) {}

  plan::Document write(bool timeline) {
    doc_.hardware = machine_.name;
    doc_.hardware_words = machine_.words;
    doc_.ranks = recipe_.hardware.ranks;
    doc_.limit_bytes = machine_.limit_bytes;
    doc_.sources = machine_.sources;
    doc_.remarks = machine_.remarks;
    doc_.uncertain = machine_.uncertain;
    doc_.uncertain_words = machine_.uncertain_words;
    doc_.choice = stages_.front().plan.graph.notes.at("plan");
    std::vector<std::string> hashes;
    for (size_t i = 0; i < stages_.size(); ++i) {
      figures(i);
      buckets(i);
      transfers(i);
      hashes.push_back(plan_hash(plan_text(stages_[i].plan.graph)));
      if (timeline)
        doc_.timelines.push_back({stages_[i].rank, spans_of(stages_[i]), curve_of(stages_[i])});
    }
    doc_.plan_hash = joined_hash(hashes);
    exposed();
    throughput();
    return std::move(doc_);
  }

 private:
  void figures(size_t i) {
    const Stage& stage = stages_[i];
    const cost::Simulated& step = stage.simulated;
    plan::RankFigures rank{.rank = stage.rank,
                           .stage = static_cast<int64_t>(i),
                           .ranks = recipe_.hardware.ranks / static_cast<int64_t>(stages_.size()),
                           .step_seconds = step.step_seconds,
                           .compute_seconds = step.compute_seconds,
                           .exposed_seconds = step.exposed_seconds,
                           .bubble_seconds = step.bubble_seconds,
                           .peak_bytes = stage.memory.peak_bytes,
                           .memory = stage.memory.peak};
    rank.idle_seconds = std::max(
        0.0, rank.step_seconds - rank.compute_seconds - rank.exposed_seconds - rank.bubble_seconds);
    if (rank.peak_bytes > doc_.peak_bytes) {
      doc_.peak_bytes = rank.peak_bytes;
      doc_.peak_rank = rank.rank;
      doc_.memory = rank.memory;
    }
    // The slowest stage is the step; its parts are those that are shown.
    if (rank.step_seconds > doc_.step_seconds) {
      doc_.step_seconds = rank.step_seconds;
      doc_.exposed_seconds = rank.exposed_seconds;
    }
    doc_.bubble_seconds = std::max(doc_.bubble_seconds, rank.bubble_seconds);
    doc_.collectives = std::max(doc_.collectives, graph::collectives_per_step(stage.plan.graph));
    doc_.ranks_shown.push_back(rank);
  }

  void buckets(size_t i) {
    const Stage& stage = stages_[i];
    for (const passes::Bucket& bucket : stage.plan.buckets) {
      plan::BucketFigures figures{
          .name = bucket.name, .modules = bucket.modules, .stage = static_cast<int64_t>(i)};
      bool here = false;
      for (size_t n = 0; n < stage.plan.graph.nodes.size(); ++n) {
        const Node& node = stage.plan.graph.nodes[n];
        if (!graph::is_collective(node) || node.module.text() != bucket.name) continue;
        here = true;
        const cost::Transferred& transfer = stage.simulated.transfers[n];
        figures.exposed_seconds += transfer.exposed;
        const bool gathers = graph::is_all_gather(node);
        double& seconds = gathers ? figures.gather_seconds : figures.scatter_seconds;
        seconds = std::max(seconds, durations_alone(stage, n));
        if (gathers)
          figures.gather_bytes =
              std::max(figures.gather_bytes, cost::whole_bytes(stage.plan.graph, node));
      }
      if (!here) continue;
      number_of_[{i, bucket.name}] = static_cast<int64_t>(doc_.buckets.size());
      doc_.buckets.push_back(std::move(figures));
    }
  }

  double durations_alone(const Stage& stage, size_t node) const {
    return cost_.transfer(stage.plan.graph, stage.plan.graph.nodes[node]).alone;
  }

  void transfers(size_t i) {
    std::map<std::string, int64_t> bytes;
    for (const Node& node : stages_[i].plan.graph.nodes)
      if (graph::is_collective(node))
        bytes[graph::group_of(node)] += moved_bytes(stages_[i].plan.graph, node);
    for (const auto& [group, moved] : bytes)
      doc_.bytes_by_group[group] = std::max(doc_.bytes_by_group[group], moved);
  }

  void exposed() {
    for (size_t i = 0; i < stages_.size(); ++i) {
      const Stage& stage = stages_[i];
      for (const cost::ExposedTransfer& each :
           cost::exposed_transfers(stage.plan.graph, stage.simulated)) {
        const Node& node = stage.plan.graph.nodes[each.node];
        const auto bucket = number_of_.find({i, node.module.text()});
        doc_.exposed.push_back({node_text(node), stage.rank,
                                bucket == number_of_.end() ? -1 : bucket->second, each.seconds,
                                cost::in_words(each.why, stage.simulated.transfers[each.node])});
      }
    }
    std::stable_sort(doc_.exposed.begin(), doc_.exposed.end(),
                     [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    doc_.exposed.resize(std::min(doc_.exposed.size(), kMostExposed));
  }

  void throughput() {
    doc_.tokens_per_step = recipe_.training.global_batch * recipe_.data.seq_len;
    if (doc_.step_seconds <= 0) return;
    doc_.tokens_per_second_per_rank = static_cast<double>(doc_.tokens_per_step) /
                                      doc_.step_seconds / static_cast<double>(doc_.ranks);
    doc_.peak_flops = machine_.peak_flops;
    if (doc_.peak_flops <= 0) return;
    for (const recipe::FlopsConvention& each : recipe::flops_conventions()) {
      const double flops = each.flops_per_token(recipe_.model, recipe_.data.seq_len);
      doc_.mfu.push_back(
          {each.words, flops, flops * doc_.tokens_per_second_per_rank / doc_.peak_flops});
    }
  }

  const recipe::Recipe& recipe_;
  const Machine& machine_;
  std::vector<Stage>& stages_;
  const cost::CostModel cost_{machine_.rates};
  plan::Document doc_;
  std::map<std::pair<size_t, std::string>, int64_t> number_of_;  // bucket by stage and name
};

}  // namespace

Result<plan::Document> predict(const recipe::Recipe& asked, const PredictOptions& options) {
  const auto begin = Clock::now();
  const std::string hardware = options.hardware.empty() ? asked.hardware.name : options.hardware;
  auto machine = machine_of(asked, hardware, options.executor);
  if (!machine) return fail(machine);
  recipe::Recipe recipe = asked;
  recipe.hardware.device = machine->gpu ? "cuda" : "cpu";
  const cost::CostModel model(machine->rates);

  auto validation = plan_validation(recipe, 0, machine->rates);
  if (!validation) return fail(validation);
  const int64_t validation_bytes = validation->memory.arena_bytes;
  const int64_t pp = recipe.parallelism.pp, ranks = recipe.hardware.ranks;
  std::vector<Stage> stages;
  std::vector<cost::RankProgram> programs;
  stages.reserve(static_cast<size_t>(pp));
  for (int64_t i = 0; i < pp; ++i) {
    if (options.cancelled()) return fail("{}", kCancelled);
    Stage stage{.rank = i * (ranks / pp), .plan = {}, .memory = {}, .simulated = {}};
    auto planned = capture_and_plan(recipe, stage.rank, machine->rates, Work::train,
                                    validation_bytes, options.capture);
    if (!planned) return fail(planned);
    stage.plan = std::move(planned->plan);
    stage.memory =
        cost::memory_use(stage.plan, machine->beyond_bytes + validation_bytes +
                                         checkpoint_bytes(recipe, stage.rank, stage.plan.graph));
    stages.push_back(std::move(stage));
    programs.push_back(cost::program_of(stages.back().plan.graph, model));
  }
  if (options.cancelled()) return fail("{}", kCancelled);
  std::vector<cost::Simulated> simulated = cost::simulate(programs);
  for (size_t i = 0; i < stages.size(); ++i) stages[i].simulated = std::move(simulated[i]);
  plan::Document document = Writer(recipe, *machine, stages).write(options.timeline);
  document.executor = options.executor;
  document.plan_seconds = seconds_since(begin);
  return document;
}

}  // namespace heddle::train
