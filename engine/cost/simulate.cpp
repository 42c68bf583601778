#include "engine/cost/simulate.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

namespace heddle::cost {
namespace {

using graph::Graph;
using graph::Node;

class Clock {
 public:
  explicit Clock(double contention) : slowdown_(1.0 + contention) {}

  void compute(double seconds) {
    while (seconds > 0 && !under_way_.empty()) {
      const double both = std::min(seconds, under_way_.front().left);
      now_ += both * slowdown_;
      seconds -= both;
      transfer(both);
    }
    now_ += seconds;
  }

  void start(graph::ValueId first_result, double seconds) {
    under_way_.push_back({first_result, seconds});
  }

  void wait(graph::ValueId first_result) {
    const auto is_it = [&](const Transfer& each) { return each.first_result == first_result; };
    while (std::any_of(under_way_.begin(), under_way_.end(), is_it)) {
      const double left = under_way_.front().left;
      now_ += left;
      exposed_ += left;
      transfer(left);
    }
  }

  Simulated passed() const { return {now_, exposed_}; }

 private:
  struct Transfer {
    graph::ValueId first_result;
    double left;
  };

  void transfer(double seconds) {
    under_way_.front().left -= seconds;
    if (under_way_.front().left <= 0) under_way_.pop_front();
  }

  const double slowdown_;
  std::deque<Transfer> under_way_;  // the first one runs
  double now_ = 0, exposed_ = 0;
};

}  // namespace

Simulated simulate(const Graph& planned, const NodeSeconds& seconds, double contention) {
  std::vector<double> of_node;
  of_node.reserve(planned.nodes.size());
  for (const Node& node : planned.nodes)
    of_node.push_back(graph::is_wait(node) ? 0.0 : seconds(node));
  Clock clock(contention);
  Simulated first;
  for (int step = 0; step < 2; ++step) {
    first = clock.passed();
    for (size_t i = 0; i < of_node.size(); ++i) {
      const Node& node = planned.nodes[i];
      if (graph::is_collective(node)) {
        clock.start(node.outputs.front(), of_node[i]);
      } else if (graph::is_wait(node)) {
        clock.wait(graph::list_of(node).front().value);
      } else {
        clock.compute(of_node[i]);
      }
    }
  }
  const Simulated both = clock.passed();
  return {both.step_seconds - first.step_seconds, both.exposed_seconds - first.exposed_seconds};
}

Simulated simulate(const Graph& planned, const CostModel& cost) {
  std::map<std::string, int64_t> bytes;
  for (const Node& node : planned.nodes)
    if (graph::is_collective(node)) bytes[graph::group_of(node)] += whole_bytes(planned, node);
  const auto most = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return simulate(
      planned,
      [&](const Node& node) {
        return graph::is_collective(node) ? cost.transfer_seconds(planned, node)
                                          : cost.seconds(planned, node);
      },
      most == bytes.end() ? 0.0 : cost.link(most->first).contention);
}

}  // namespace heddle::cost
