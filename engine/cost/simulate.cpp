#include "engine/cost/simulate.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace heddle::cost {
namespace {

using graph::Graph;
using graph::Node;

class Clock {
 public:
  void compute(double seconds) {
    while (seconds > 0 && !under_way_.empty()) {
      Transfer& transfer = under_way_.front();
      const double transfer_ends = transfer.left * transfer.duration.beside_compute;
      const double speed = speed_beside(transfer.duration);
      if (transfer_ends * speed > seconds) {
        now_ += seconds / speed;
        transfer.left -= seconds / speed / transfer.duration.beside_compute;
        return;
      }
      now_ += transfer_ends;
      seconds -= transfer_ends * speed;
      under_way_.pop_front();
    }
    now_ += seconds;
  }

  void start(graph::ValueId first_result, Duration duration) {
    under_way_.push_back({first_result, duration});
  }

  void wait(graph::ValueId first_result) {
    const auto is_it = [&](const Transfer& each) { return each.first_result == first_result; };
    while (std::any_of(under_way_.begin(), under_way_.end(), is_it)) {
      const double left = under_way_.front().left * under_way_.front().duration.alone;
      now_ += left;
      exposed_ += left;
      under_way_.pop_front();
    }
  }

  Simulated passed() const { return {now_, exposed_}; }

 private:
  struct Transfer {
    graph::ValueId first_result;
    Duration duration;
    double left = 1.0;  // the share that is still to come
  };

  // Of compute. No transfer stops it: threads share the cores.
  static double speed_beside(const Duration& transfer) {
    constexpr double kSlowest = 0.05;
    if (transfer.beside_compute <= 0) return 1.0;
    return std::max(kSlowest, 1.0 - transfer.lost / transfer.beside_compute);
  }

  std::deque<Transfer> under_way_;  // the first one runs
  double now_ = 0, exposed_ = 0;
};

}  // namespace

Simulated simulate(const Graph& planned, const NodeDuration& duration) {
  std::vector<Duration> of_node;
  of_node.reserve(planned.nodes.size());
  for (const Node& node : planned.nodes)
    of_node.push_back(graph::is_wait(node) ? Duration{} : duration(node));
  Clock clock;
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
        clock.compute(of_node[i].alone);
      }
    }
  }
  const Simulated both = clock.passed();
  return {both.step_seconds - first.step_seconds, both.exposed_seconds - first.exposed_seconds};
}

Simulated simulate(const Graph& planned, const CostModel& cost) {
  return simulate(planned, [&](const Node& node) {
    return graph::is_collective(node) ? cost.transfer(planned, node)
                                      : Duration{cost.seconds(planned, node)};
  });
}

}  // namespace heddle::cost
