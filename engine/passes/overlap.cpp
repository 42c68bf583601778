#include "engine/passes/overlap.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "engine/passes/graph_words.h"
#include "engine/passes/node_cost.h"
#include "engine/passes/order.h"
#include "engine/recipe/mesh.h"

namespace heddle::passes {
namespace {

// Ranks of nodes that share a place, in their order there. A place is a compute node's
// old position; what is put before it has a lower rank than the node itself.
enum Rank : int32_t {
  kScatterWait,  // before the compute that the memory is for
  kBehindScatter,
  kGather,
  kScatter,
  kGatherWait,
  kCompute,
  kBehindCompute,
  kAgreement,  // what all ranks agree on at the end of the step
};

constexpr int64_t kNoPosition = std::numeric_limits<int64_t>::max();
constexpr int32_t kNoTurn = std::numeric_limits<int32_t>::max();

class Overlapper {
 public:
  Overlapper(Graph& graph, const OverlapOptions& options)
      : graph_(graph), options_(options), count_(static_cast<int64_t>(graph.nodes.size())) {}

  void run() {
    made_by_ = graph::producers(graph_);
    wrap_around();
    before_ = dependencies(graph_, made_by_);
    priorities_.resize(graph_.nodes.size());
    classify();
    pull_epilogues();
    place_gathers();
    place_scatters();
    place_followers();
    order_by(graph_, priorities_, before_);
  }

 private:
  enum class Kind : uint8_t { compute, gather, gather_wait, scatter, scatter_wait, follower };

  // The sum of a tied matrix's gradients at both ends of a pipeline, which are ready at different
  // times.
  static bool joins_ends(const Node& collective) {
    return graph::group_of(collective) == recipe::kEndsGroup;
  }

  // An all-reduce of whole gradients, where nothing is sharded, takes the place of the scatter.
  bool reduces_gradient(size_t i) const {
    const Node& node = graph_.nodes[i];
    if (!graph::is_collective(node) || graph::is_exchange(node) || node.module.empty())
      return false;
    if (joins_ends(node) || node.phase == Phase::forward) return false;
    return std::none_of(before_[i].begin(), before_[i].end(),
                        [&](int32_t earlier) { return kinds_[earlier] == Kind::scatter_wait; });
  }

  // The first gathers of forward read what the step before has updated, where one updates.
  void wrap_around() {
    // By value: a state's newest version; the state that a version is of.
    std::vector<ValueId> newest(graph_.values.size(), kNoValue), state_of(newest);
    for (const graph::Binding& state : graph_.states)
      newest[state.value] = state_of[state.value] = state.value;
    for (const Node& node : graph_.nodes)
      graph::for_each_use(node, [&](const Use& use) {
        const ValueId state = state_of[use.value];
        if (use.written == kNoValue || state == kNoValue) return;
        newest[state] = use.written;
        state_of[use.written] = state;
      });
    int wrapped = 0;
    for (size_t i = 0; i < graph_.nodes.size() && wrapped < options_.gathers_in_flight; ++i) {
      Node& node = graph_.nodes[i];
      if (!graph::is_all_gather(node) || node.phase != Phase::forward) continue;
      if (!reads_updated_states(node, newest)) return;
      ++wrapped;
      move_to_next_step(node, newest);
    }
  }

  // True if all that the gather reads is states that the step changes, or casts of them.
  bool reads_updated_states(const Node& node, const std::vector<ValueId>& newest) const {
    bool all = true;
    graph::for_each_use(node, [&](const Use& use) {
      if (newest[use.value] != kNoValue) {
        all = all && newest[use.value] != use.value;
      } else {
        const int32_t maker = made_by_[use.value];
        all = all && maker >= 0 && !graph::is_collective(graph_.nodes[maker]) &&
              reads_updated_states(graph_.nodes[maker], newest);
      }
    });
    return all;
  }

  void move_to_next_step(Node& node, const std::vector<ValueId>& newest) {
    if (node.next_step) return;  // a list of casts is met again at each of its results
    node.next_step = true;
    node.phase = Phase::optimizer;
    graph::for_each_use(node, [&](Use& use) {
      if (newest[use.value] != kNoValue) {
        use.value = newest[use.value];
      } else {
        move_to_next_step(graph_.nodes[made_by_[use.value]], newest);
      }
    });
  }

  void classify() {
    kinds_.assign(graph_.nodes.size(), Kind::compute);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      Kind& kind = kinds_[i];
      if (graph::is_all_gather(node)) {
        kind = Kind::gather;
      } else if (graph::is_reduce_scatter(node) || reduces_gradient(i)) {
        kind = Kind::scatter;
      } else if (graph::is_wait(node)) {
        const int32_t maker = made_by_[graph::list_of(node).front().value];
        if (maker >= 0 && graph::is_all_gather(graph_.nodes[maker])) kind = Kind::gather_wait;
        if (maker >= 0 && kinds_[maker] == Kind::scatter) kind = Kind::scatter_wait;
        if (maker >= 0 && kinds_[maker] == Kind::follower) kind = Kind::follower;
        // The first stage has its part last of all: whoever waits for it before the end may keep it
        // from getting there.
        if (maker >= 0 && joins_ends(graph_.nodes[maker])) kind = Kind::follower;
      } else if (node.phase == Phase::optimizer) {
        kind = Kind::follower;
      }
      if (kind == Kind::compute) {
        for (int32_t earlier : before_[i])
          if (kinds_[earlier] == Kind::follower || kinds_[earlier] == Kind::scatter_wait)
            kind = Kind::follower;
      }
      if (node.next_step && kind == Kind::compute) kind = Kind::follower;
      priorities_[i] = {static_cast<int64_t>(i), kCompute, 0};
    }
  }

  bool exchanges(size_t i) const {
    const Node& node = graph_.nodes[i];
    if (!graph::is_wait(node)) return graph::is_exchange(node);
    const int32_t maker = made_by_[graph::list_of(node).front().value];
    return maker >= 0 && graph::is_exchange(graph_.nodes[maker]);
  }

  // Nodes that follow a gradient's product and lead only to its reduction (casts, sums over
  // micro-batches) was written down behind the whole backward pass: it belongs behind the product.
  void pull_epilogues() {
    epilogue_.assign(graph_.nodes.size(), false);
    std::vector<bool> leads_elsewhere(graph_.nodes.size(), false);
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const bool epilogue = kinds_[i] != Kind::compute ||
                            (!leads_elsewhere[i] && graph_.nodes[i].phase == Phase::backward &&
                             flops(graph_, graph_.nodes[i]) == 0.0 && !exchanges(i));
      if (epilogue && kinds_[i] == Kind::compute) epilogues_.push_back(static_cast<int32_t>(i));
      if (epilogue) continue;
      if (!leads_elsewhere[i] && graph_.nodes[i].phase == Phase::backward && !exchanges(i))
        weight_products_.push_back(static_cast<int32_t>(i));
      for (int32_t earlier : before_[i]) leads_elsewhere[earlier] = true;
    }
    std::reverse(epilogues_.begin(), epilogues_.end());
    for (int32_t node : epilogues_) epilogue_[node] = true;
    place_exchanges();
    for (int32_t node : epilogues_) {
      int64_t place = 0;
      for (int32_t earlier : before_[node]) place = std::max(place, priorities_[earlier].place);
      if (!before_[node].empty()) priorities_[node] = {place, kBehindCompute, 0};
    }
  }

  // Activations set out as soon as they are made and are waited for as late as they are read;
  // products that only weights' gradients need stand behind the next exchange, which they hide.
  void place_exchanges() {
    std::vector<int64_t> first_read(graph_.values.size(), kNoPosition);
    for (size_t i = graph_.nodes.size(); i-- > 0;)
      graph::for_each_use(graph_.nodes[i],
                          [&](const Use& use) { first_read[use.value] = static_cast<int64_t>(i); });
    find_gathered_again();
    std::vector<int64_t> starts;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (kinds_[i] != Kind::compute || !exchanges(i) || gathered_again_[i]) continue;
      if (graph::is_receive(node)) continue;  // as early as the schedule has it
      if (!graph::is_wait(node)) {
        int64_t made = 0;
        for (int32_t earlier : before_[i]) made = std::max(made, priorities_[earlier].place);
        if (!before_[i].empty()) priorities_[i] = {made, kBehindCompute, 0};
        if (node.phase == Phase::backward) starts.push_back(static_cast<int64_t>(i));
        continue;
      }
      int64_t need = kNoPosition;
      for (ValueId output : node.outputs)
        if (output != kNoValue) need = std::min(need, first_read[output]);
      if (need != kNoPosition) priorities_[i] = {need, kGatherWait, 0};
    }
    for (int32_t product : weight_products_) {
      const auto next = std::upper_bound(starts.begin(), starts.end(), int64_t{product});
      if (next == starts.end() || !same_part(product, static_cast<int32_t>(*next))) continue;
      priorities_[product] = {priorities_[*next].place, kBehindCompute, 1};
    }
    place_gathered_again(starts);
  }

  // Gathers in backward of what was there before this part of it began; their waits; views of that.
  // Weight gradients that are put off are a part of their own.
  void find_gathered_again() {
    gathered_again_.assign(graph_.nodes.size(), false);
    run_.assign(graph_.nodes.size(), 0);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto self = static_cast<int32_t>(i);
      const Node& node = graph_.nodes[i];
      if (i > 0)
        run_[i] =
            run_[i - 1] + (graph_.nodes[i - 1].phase != node.phase || !same_part(self - 1, self));
      if (kinds_[i] != Kind::compute || node.phase != Phase::backward) continue;
      const auto earlier = before_[i];
      if (graph::is_view(node)) {
        gathered_again_[i] = !earlier.empty() && std::ranges::all_of(earlier, [&](int32_t of) {
          return gathered_again_[of];
        });
      } else if (graph::is_exchange(node) && graph::gathers(node)) {
        gathered_again_[i] = std::ranges::none_of(earlier, [&](int32_t maker) {
          return run_[maker] == run_[i] && graph_.nodes[maker].weights_only == node.weights_only;
        });
      }
    }
  }

  // They are waited for where they are read first. They set out behind the exchange ahead of them,
  // which others wait for; where a part has none, one ahead: when the one before is read.
  void place_gathered_again(const std::vector<int64_t>& starts) {
    std::vector<Priority> first_read(graph_.values.size(), {kNoPosition, kCompute, 0});
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      if (gathered_again_[i] && graph::is_view(node)) {
        Priority first{kNoPosition, kCompute, 0};
        for (ValueId output : node.outputs)
          if (output != kNoValue) first = std::min(first, first_read[output]);
        if (first.place != kNoPosition) priorities_[i] = first;
      }
      graph::for_each_use(node, [&](const Use& use) {
        first_read[use.value] = std::min(first_read[use.value], priorities_[i]);
      });
    }
    int32_t before = -1;  // the gather before this one
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!gathered_again_[i] || graph::is_view(graph_.nodes[i])) continue;
      const auto self = static_cast<int32_t>(i);
      const auto ahead = std::lower_bound(starts.begin(), starts.end(), int64_t{self});
      if (ahead != starts.begin() && run_[*(ahead - 1)] == run_[i]) {
        priorities_[i] = {priorities_[*(ahead - 1)].place, kBehindCompute, 1};
      } else if (before >= 0 && run_[before] == run_[i]) {
        priorities_[i] = first_read[graph_.nodes[before].outputs.front()];
        --priorities_[i].turn;
      }
      before = self;
    }
  }

  // Per micro-batch and stage, so that nothing is kept longer than by a layer or so.
  bool same_part(int32_t a, int32_t b) const {
    const Node &x = graph_.nodes[a], &y = graph_.nodes[b];
    return x.micro_batch == y.micro_batch && x.stage == y.stage;
  }

  struct Gather {
    int32_t node;
    int64_t need = kNoPosition;  // place of the first compute node that reads it
    int64_t region = 0;          // place where its phase of its micro-batch begins
  };

  void place_gathers() {
    std::unordered_map<int32_t, size_t> index;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] != Kind::gather) continue;
      index[static_cast<int32_t>(i)] = gathers_.size();
      gathers_.push_back({static_cast<int32_t>(i)});
    }
    std::vector<std::pair<int32_t, size_t>> waits;
    constexpr size_t kNone = std::numeric_limits<size_t>::max();
    std::vector<size_t> gather_of(graph_.values.size(), kNone);  // of what waits give
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (kinds_[i] == Kind::gather_wait) {
        const size_t gather = index.at(made_by_[graph::list_of(node).front().value]);
        for (ValueId output : node.outputs)
          if (output != kNoValue) gather_of[output] = gather;
        waits.emplace_back(static_cast<int32_t>(i), gather);
        continue;
      }
      graph::for_each_use(node, [&](const Use& use) {
        if (gather_of[use.value] == kNone) return;
        int64_t& need = gathers_[gather_of[use.value]].need;
        need = std::min(need, static_cast<int64_t>(i));
      });
    }
    find_regions();
    for (const auto& [node, gather] : waits)
      priorities_[node] = {std::min(gathers_[gather].need, count_), kGatherWait, 0};

    std::vector<size_t> by_need(gathers_.size());
    for (size_t i = 0; i < by_need.size(); ++i) by_need[i] = i;
    std::stable_sort(by_need.begin(), by_need.end(),
                     [&](size_t a, size_t b) { return gathers_[a].need < gathers_[b].need; });
    const auto depth = static_cast<size_t>(std::max(options_.gathers_in_flight, 0));
    for (size_t i = 0; i < by_need.size(); ++i) {
      const Gather& gather = gathers_[by_need[i]];
      need_turn_[gather.node] = static_cast<int32_t>(i);
      if (graph_.nodes[gather.node].next_step) continue;
      int64_t place = i < depth ? 0 : gathers_[by_need[i - depth]].need;
      if (!options_.across_phases) place = std::max(place, gather.region);
      put_with_casts(gather.node, {place, kGather, static_cast<int32_t>(i)});
    }
  }

  // A region is a phase of a micro-batch: where its first compute node is.
  void find_regions() {
    std::unordered_map<int64_t, int64_t> begin;
    auto region_of = [](const Node& node) {
      return int64_t{node.micro_batch} * 2 + (node.phase == Phase::backward ? 1 : 0);
    };
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] != Kind::compute) continue;
      const auto place = static_cast<int64_t>(i);
      const bool first = begin.try_emplace(region_of(graph_.nodes[i]), place).second;
      if (first && graph_.nodes[i].phase == Phase::backward)
        last_backward_ = std::max(last_backward_, place);
    }
    for (Gather& gather : gathers_) {
      const auto found = begin.find(region_of(graph_.nodes[gather.node]));
      if (found != begin.end()) gather.region = found->second;
    }
  }

  // Casts of shards stand before the gather that they are for.
  void put_with_casts(int32_t node, Priority priority) {
    priorities_[node] = priority;
    for (int32_t earlier : before_[node]) {
      if (kinds_[earlier] != Kind::compute || graph::is_wait(graph_.nodes[earlier])) continue;
      put_with_casts(earlier, {priority.place, priority.rank, priority.turn});
    }
  }

  // The last node that is no epilogue and leads to a scatter: by it the nodes of one place take
  // turns.
  int32_t last_maker(int32_t node) const {
    int32_t last = 0;
    for (int32_t earlier : before_[node])
      last = std::max(last, epilogue_[earlier] ? last_maker(earlier) : earlier);
    return last;
  }

  void place_scatters() {
    std::vector<int32_t> scatters, waits;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] != Kind::scatter) continue;
      int64_t ready = 0;
      for (int32_t earlier : before_[i]) ready = std::max(ready, priorities_[earlier].place);
      // One behind the last gradient's maker: where the next compute node is.
      priorities_[i] = {ready + 1, kScatter, last_maker(static_cast<int32_t>(i))};
      scatters.push_back(static_cast<int32_t>(i));
    }
    std::stable_sort(scatters.begin(), scatters.end(),
                     [&](int32_t a, int32_t b) { return priorities_[a] < priorities_[b]; });
    std::unordered_map<int32_t, int32_t> turn;
    for (size_t i = 0; i < scatters.size(); ++i) turn[scatters[i]] = static_cast<int32_t>(i);
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] != Kind::scatter_wait) continue;
      const int32_t own = turn.at(made_by_[graph::list_of(graph_.nodes[i]).front().value]);
      const size_t next =
          static_cast<size_t>(own) + static_cast<size_t>(std::max(options_.scatters_in_flight, 1));
      const int64_t place = next < scatters.size() ? priorities_[scatters[next]].place : count_;
      priorities_[i] = {place, kScatterWait, own};
    }
  }

  // Each right behind the last of what it needs. Updates: in the order in which the next forward
  // reads the states that they write.
  void place_followers() {
    const auto turns = update_turns();
    int32_t agreements = 0;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const bool next = graph_.nodes[i].next_step;
      if (kinds_[i] != Kind::follower && !next) continue;
      Priority last{0, kBehindScatter, 0};
      for (int32_t earlier : before_[i]) last = std::max(last, priorities_[earlier]);
      if (turns[i] != kNoTurn) {
        last = {last.place, std::max<int32_t>(last.rank, kBehindScatter), 2 * turns[i]};
      } else if (next) {
        last.turn += 1;
      }
      if (last.rank == kCompute) last.rank = kBehindCompute;
      if (last.rank == kScatterWait) last.rank = kBehindScatter;
      // A value that all ranks must agree on and that scatters lead to waits for all of them: at
      // the end, in the order in which it was captured, whatever a pipeline stage has of the model.
      // A value that is ready earlier (the loss) is sent ahead of the scatters and the gathers
      // after them: on every stage where its last backward begins, since by then the last stage has
      // it too.
      if (graph::is_collective(graph_.nodes[i]) && graph_.nodes[i].module.empty() && !next)
        last = last.place >= count_ ? Priority{count_, kAgreement, agreements++}
                                    : std::max(last, {last_backward_, kBehindScatter, 0});
      if (graph::is_wait(graph_.nodes[i])) last.place = std::max(last.place, count_);
      priorities_[i] = last;
    }
  }

  // By node: the turn of the first gather that reads a state which the node writes to.
  std::vector<int32_t> update_turns() const {
    std::vector<int32_t> turn_of_version(graph_.values.size(), kNoTurn);
    for (const auto& [node, turn] : need_turn_) collect_versions(node, turn, turn_of_version);
    std::vector<int32_t> turns(graph_.nodes.size(), kNoTurn);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (kinds_[i] != Kind::follower) continue;
      graph::for_each_use(graph_.nodes[i], [&](const Use& use) {
        if (use.written == kNoValue) return;
        for (ValueId version : {use.value, use.written})
          turns[i] = std::min(turns[i], turn_of_version[version]);
      });
    }
    return turns;
  }

  void collect_versions(int32_t node, int32_t turn, std::vector<int32_t>& turns) const {
    graph::for_each_use(graph_.nodes[node], [&](const Use& use) {
      turns[use.value] = std::min(turns[use.value], turn);
      const int32_t maker = made_by_[use.value];
      if (maker >= 0 && graph_.nodes[maker].op->casts) collect_versions(maker, turn, turns);
    });
  }

  Graph& graph_;
  const OverlapOptions& options_;
  int64_t count_;
  std::vector<int32_t> made_by_;
  Dependencies before_;
  std::vector<Kind> kinds_;
  std::vector<Priority> priorities_;
  std::vector<int32_t> epilogues_;
  std::vector<bool> epilogue_;            // by node: whether it is one
  std::vector<int32_t> weight_products_;  // what only gradients of weights need
  std::vector<bool> gathered_again_;      // by node: see find_gathered_again
  std::vector<int32_t> run_;              // by node: neighbours of one phase, micro-batch and stage
  std::vector<Gather> gathers_;
  int64_t last_backward_ = 0;                       // where the last micro-batch's backward begins
  std::unordered_map<int32_t, int32_t> need_turn_;  // gather node → its turn by need
};

}  // namespace

void overlap(Graph& graph, const OverlapOptions& options) { Overlapper(graph, options).run(); }

}  // namespace heddle::passes
