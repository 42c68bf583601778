// How long a node of a graph takes: from what was measured, or by formula where nothing was.
#pragma once

#include <array>
#include <map>
#include <string>
#include <unordered_map>

#include "engine/cost/rates.h"
#include "engine/cost/work_kind.h"
#include "engine/graph/ir.h"

namespace heddle::cost {

/// Seconds of a node: compute by itself; a collective while compute is idle, and while it
/// runs, and what compute loses then.
struct Duration {
  double alone = 0, beside_compute = 0, lost = 0;
  Wire wire = Wire::node;
};

/// Plain data plus look-ups; safe to read from several threads.
class CostModel {
 public:
  /// Operators without a rate are guessed. A group of the graph without a link: std::out_of_range
  /// when it is asked for.
  explicit CostModel(const Rates& rates);

  /// Seconds of a compute node, with its ranks busy. Views take none.
  double seconds(const graph::Graph& graph, const graph::Node& node) const;
  /// Seconds of a collective.
  Duration transfer(const graph::Graph& graph, const graph::Node& collective) const;
  const Link& link(const std::string& group) const { return links_.at(group); }
  /// Bytes that a rank holds besides its states and arena.
  int64_t process_bytes() const { return process_bytes_; }

 private:
  using Factors = std::array<double, kWorkKindNames.size()>;

  double calibrated_seconds(const graph::Graph& graph, const graph::Node& node) const;
  Duration calibrated_transfer(const graph::Graph& graph, const graph::Node& collective) const;
  double device_seconds(const graph::Graph& graph, const graph::Node& node) const;

  std::map<std::string, Link> links_;
  std::unordered_map<std::string, std::vector<OperatorRate>> rates_;  // by operator
  double flops_per_second_, bytes_per_second_;                        // of other operators
  int64_t process_bytes_;
  std::optional<DeviceRates> device_;
  bool refined_;
  Factors factors_;                                  // of compute
  std::map<std::string, Factors> transfer_factors_;  // by group
};

/// Bytes of a collective's whole tensors.
int64_t whole_bytes(const graph::Graph& graph, const graph::Node& collective);

/// The class that an operator's rate is kept under; `per_second` is 0.
OperatorRate rate_class(const graph::Graph& graph, const graph::Node& node);

}  // namespace heddle::cost
