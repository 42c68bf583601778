#include "engine/cost/collective_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/cost/prefixes.h"

namespace heddle::cost {
namespace {

constexpr std::array kProtocolShare = {0.5, 15.0 / 16.0, 1.0};  // LL, LL128, Simple
constexpr size_t kSimple = 2;

// Latency in seconds, rate in bytes a second.
struct Line {
  double latency = 0, rate = 0;
  double at(double bytes) const { return latency + bytes / rate; }
};

double per_second(const hardware::Number& peak, const hardware::Number& reach) {
  return peak.value * reach.value * kGiga;
}

class Times {
 public:
  Times(const Placement& placement, const hardware::Node& node, const hardware::Network& network)
      : node_(node),
        network_(network),
        ranks_(static_cast<double>(placement.ranks)),
        nodes_(static_cast<double>(placement.nodes)),
        per_node_(static_cast<double>(placement.per_node())) {}

  double gather(double bytes) const {
    return least([&](size_t protocol) { return ring(protocol, 1, node_.gather); }, bytes);
  }

  double all_reduce(double bytes) const {
    return std::min(
        least([&](size_t protocol) { return ring(protocol, 2, node_.all_reduce); }, bytes),
        least([&](size_t protocol) { return tree(protocol); }, bytes));
  }

  // One part of a rank's data stays with it, some go to its own node and some to others, all at
  // the same time.
  double all_to_all(double bytes) const {
    const double latency = latency_us(kSimple) * kMicro;
    if (nodes_ == 1) {
      if (const auto known = measured(node_.all_to_all)) return known->at(bytes);
      return latency + bytes * (ranks_ - 1) / ranks_ / inside();
    }
    return latency + bytes * std::max((per_node_ - 1) / ranks_ / inside(),
                                      (ranks_ - per_node_) / ranks_ / outside());
  }

  double to_neighbour(double bytes) const {
    const bool near = nodes_ == 1;
    return least(
        [&](size_t protocol) {
          const auto& step = near ? node_.step_us : network_.step_us;
          return Line{(node_.base_us.value[protocol] + step.value[protocol]) * kMicro,
                      (near ? inside() : outside()) * kProtocolShare[protocol]};
        },
        bytes);
  }

 private:
  template <typename LineOf>
  static double least(const LineOf& line_of, double bytes) {
    double best = std::numeric_limits<double>::infinity();
    for (size_t protocol = 0; protocol < kProtocolShare.size(); ++protocol)
      best = std::min(best, line_of(protocol).at(bytes));
    return best;
  }

  // `rounds`: how often the ring is gone around.
  Line ring(size_t protocol, double rounds, const std::vector<hardware::LinkRate>& rates) const {
    const double base = node_.base_us.value[protocol];
    Line line{(base + rounds * (latency_us(protocol) - base)) * kMicro,
              link() * ranks_ / (ranks_ - 1) / rounds};
    if (const auto known = nodes_ == 1 ? measured(rates) : std::nullopt) {
      line.rate = known->rate;
      if (protocol == kSimple) line.latency = known->latency;
    }
    line.rate *= kProtocolShare[protocol];
    return line;
  }

  Line tree(size_t protocol) const {
    constexpr double kTreeShare = 0.92;
    const double steps = (per_node_ - 1) * node_.step_us.value[protocol] +
                         std::log2(nodes_) * network_.step_us.value[protocol];
    return {(node_.base_us.value[protocol] + 2 * steps) * kMicro,
            link() * kTreeShare / 2 * kProtocolShare[protocol]};
  }

  double latency_us(size_t protocol) const {
    return node_.base_us.value[protocol] + (ranks_ - nodes_) * node_.step_us.value[protocol] +
           (nodes_ - 1) * network_.step_us.value[protocol];
  }

  double inside() const { return per_second(node_.link_gb_per_s, node_.link_reach); }

  // One rank's share. Other groups of the node's devices use the other cards at the same time.
  double outside() const {
    return per_second(network_.gb_per_s, network_.reach) * static_cast<double>(node_.nics) /
           static_cast<double>(node_.devices);
  }

  // A ring between nodes takes all of a group's network cards.
  double link() const {
    if (nodes_ == 1) return inside();
    const double out = outside() * per_node_;
    return per_node_ > 1 ? std::min(out, inside()) : out;
  }

  // Between the numbers of ranks that were measured on straight lines over log2(ranks).
  std::optional<Line> measured(const std::vector<hardware::LinkRate>& rates) const {
    if (rates.empty()) return std::nullopt;
    const auto line = [](const hardware::LinkRate& rate) {
      return Line{rate.latency_us.value * kMicro, rate.gb_per_s.value * kGiga};
    };
    const auto above = std::ranges::find_if(rates, [&](const hardware::LinkRate& rate) {
      return static_cast<double>(rate.ranks) >= ranks_;
    });
    if (above == rates.begin()) return line(*above);
    if (above == rates.end()) return line(rates.back());
    const hardware::LinkRate& below = *std::prev(above);
    const double low = std::log2(below.ranks), high = std::log2(above->ranks);
    const double share = (std::log2(ranks_) - low) / (high - low);
    const Line a = line(below), b = line(*above);
    return Line{std::lerp(a.latency, b.latency, share), std::lerp(a.rate, b.rate, share)};
  }

  const hardware::Node& node_;
  const hardware::Network& network_;
  const double ranks_, nodes_, per_node_;
};

}  // namespace

double collective_seconds(Collective collective, double bytes, const Placement& placement,
                          const hardware::Node& node, const hardware::Network& network) {
  if (placement.ranks <= 1) return 0.0;
  const Times times(placement, node, network);
  switch (collective) {
    case Collective::gather:
      return times.gather(bytes);
    case Collective::all_reduce:
      return times.all_reduce(bytes);
    case Collective::all_to_all:
      return times.all_to_all(bytes);
    case Collective::to_neighbour:
      return times.to_neighbour(bytes);
  }
  return 0.0;
}

}  // namespace heddle::cost
