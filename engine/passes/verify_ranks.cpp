#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "engine/passes/graph_words.h"
#include "engine/passes/verify.h"

namespace heddle::passes {
namespace {

constexpr size_t kSteps = 2;

// A group of ranks as they know it: groups of one name have no rank in common.
using Group = std::pair<std::string, std::vector<int>>;

std::string what_meets(const Graph& graph, const Node& node) {
  const bool transfer = graph::is_send(node) || graph::is_receive(node);
  return fmt::format("{} of {} bytes", transfer ? "transfer" : node.op.text(),
                     graph.values[node.outputs.front()].bytes());
}

// The ranks run side by side, each as far as it can.
class Ranks {
 public:
  Ranks(const std::vector<Graph>& graphs, const Members& members)
      : graphs_(graphs),
        members_(members),
        position_(graphs.size(), 0),
        started_by_(graphs.size()) {}

  Result<> run() {
    const auto count = static_cast<int>(graphs_.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < count; ++rank)
        while (position_[rank] < end(rank) && step(rank)) moved = true;
    }
    for (int rank = 0; rank < count; ++rank)
      if (position_[rank] < end(rank)) faults_.push_back(waits(rank));
    if (faults_.empty()) return {};
    return fail("5: {}", fmt::join(faults_, "; "));
  }

 private:
  struct Start {
    Group group;
    size_t number = 0;
  };

  size_t end(int rank) const { return kSteps * graphs_[rank].nodes.size(); }
  const Node& node_at(int rank) const {
    return graphs_[rank].nodes[position_[rank] % graphs_[rank].nodes.size()];
  }
  std::string waits(int rank) const {
    const Node& node = node_at(rank);
    return fmt::format("rank {} waits at node {} ({} @{}, stage {}, micro-batch {})", rank,
                       position_[rank] % graphs_[rank].nodes.size(), node.op, node.module,
                       node.stage, node.micro_batch);
  }

  // False if the rank has to wait.
  bool step(int rank) {
    const Node& node = node_at(rank);
    if (graph::is_wait(node)) {
      const auto start = started_by_[rank].find(graph::list_of(node).front().value);
      // Transfers that the step before the first would have started have ended.
      if (start != started_by_[rank].end() && !all_have_started(start->second)) return false;
    } else if (graph::is_collective(node)) {
      start(rank, node);
    }
    ++position_[rank];
    return true;
  }

  void start(int rank, const Node& node) {
    const std::string& name = graph::group_of(node);
    const Group group{name, members_(rank, name)};
    auto& all = started_[group];
    std::vector<std::string>& own = all[rank];
    for (ValueId output : node.outputs) started_by_[rank][output] = {group, own.size()};
    own.push_back(what_meets(graphs_[rank], node));
    for (const auto& [other, theirs] : all)
      if (theirs.size() >= own.size() && theirs[own.size() - 1] != own.back())
        faults_.push_back(fmt::format("{}: rank {} starts a {}, rank {} a {}", name, rank,
                                      own.back(), other, theirs[own.size() - 1]));
  }

  bool all_have_started(const Start& start) {
    for (const int rank : start.group.second)
      if (started_[start.group][rank].size() <= start.number) return false;
    return true;
  }

  const std::vector<Graph>& graphs_;
  const Members& members_;
  std::vector<size_t> position_;  // by rank: its next node
  std::map<Group, std::map<int, std::vector<std::string>>> started_;
  std::vector<std::map<ValueId, Start>> started_by_;  // by rank: what makes a value
  std::vector<std::string> faults_;
};

}  // namespace

Result<> verify_ranks(const std::vector<Graph>& graphs, const Members& members) {
  return Ranks(graphs, members).run();
}

}  // namespace heddle::passes
