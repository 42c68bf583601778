#include "engine/cost/cost_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/passes/node_cost.h"

namespace heddle::cost {
namespace {

using graph::Graph;
using graph::Node;

constexpr double kCallSeconds = 2e-6;  // an operator's dispatch

// How unlike two shapes are: the sum over dimensions of the octaves between them.
double distance(const OperatorRate& a, const OperatorRate& b) {
  double sum = a.dtype == b.dtype ? 0.0 : 100.0;
  for (size_t i = 0; i < a.shape.size(); ++i)
    if (a.shape[i] > 0 && b.shape[i] > 0)
      sum += std::abs(std::log2(static_cast<double>(a.shape[i]) / static_cast<double>(b.shape[i])));
  return sum;
}

std::string short_name(c10::ScalarType type) {
  return type == c10::kBFloat16 ? "bf16" : type == c10::kFloat ? "f32" : c10::toString(type);
}

// The factor of compute, or of a link's collectives; 1 where no run has shown any.
std::array<double, kWorkKindNames.size()> factors_of(const Refinement& refinement,
                                                     const Link* link) {
  std::array<double, kWorkKindNames.size()> factors{};
  for (size_t i = 0; i < factors.size(); ++i) {
    const auto kind = static_cast<WorkKind>(i);
    const auto known = refinement.factors.find(link ? work_name(kind, *link) : work_name(kind));
    factors[i] = known == refinement.factors.end() ? 1 : known->second;
  }
  return factors;
}

}  // namespace

int64_t whole_bytes(const Graph& graph, const Node& collective) {
  int64_t bytes = 0;
  if (graph::gathers(collective) || graph::is_receive(collective)) {
    for (graph::ValueId output : collective.outputs) bytes += graph.values[output].bytes();
  } else {
    for (const graph::Use& use : graph::list_of(collective))
      bytes += graph.values[use.value].bytes();
  }
  return bytes;
}

OperatorRate rate_class(const Graph& graph, const Node& node) {
  OperatorRate rate;
  rate.op = node.op->rate_of.empty() ? node.op.text() : std::string(node.op->rate_of);
  bool first = true;
  graph::for_each_use(node, [&](const graph::Use& use) {
    if (std::exchange(first, false)) rate.dtype = short_name(graph.values[use.value].dtype);
  });
  if (node.op->rate_shape) rate.shape = node.op->rate_shape(graph, node);
  return rate;
}

CostModel::CostModel(const Rates& rates)
    : links_(rates.links),
      flops_per_second_(rates.flops_per_second),
      bytes_per_second_(rates.bytes_per_second),
      process_bytes_(rates.process_bytes),
      device_(rates.device),
      refined_(rates.refinement.runs > 0),
      factors_(factors_of(rates.refinement, nullptr)) {
  for (const auto& [group, link] : links_)
    transfer_factors_[group] = factors_of(rates.refinement, &link);
  for (const OperatorRate& rate : rates.operators) {
    rates_[rate.op].push_back(rate);
    if (rate.op == kMovesBytes) bytes_per_second_ = rate.per_second;
  }
}

double CostModel::seconds(const Graph& graph, const Node& node) const {
  if (graph::is_collective(node) || graph::is_view(node)) return 0.0;
  const double seconds = calibrated_seconds(graph, node);
  return refined_ ? seconds * factors_[static_cast<size_t>(work_kind(graph, node))] : seconds;
}

Duration CostModel::transfer(const Graph& graph, const Node& collective) const {
  Duration duration = calibrated_transfer(graph, collective);
  if (!refined_) return duration;
  const double factor = transfer_factors_.at(
      graph::group_of(collective))[static_cast<size_t>(work_kind(graph, collective))];
  for (double* seconds : {&duration.alone, &duration.beside_compute, &duration.lost})
    *seconds *= factor;
  return duration;
}

double CostModel::calibrated_seconds(const Graph& graph, const Node& node) const {
  if (device_) return device_seconds(graph, node);
  const double flops = passes::flops(graph, node);
  const double work = flops > 0 ? flops : static_cast<double>(passes::bytes_moved(graph, node));
  double rate = flops > 0 ? flops_per_second_ : bytes_per_second_;
  if (rates_.empty()) return kCallSeconds + work / rate;
  const OperatorRate wanted = rate_class(graph, node);
  if (const auto measured = rates_.find(wanted.op); measured != rates_.end()) {
    rate = std::min_element(measured->second.begin(), measured->second.end(),
                            [&](const OperatorRate& a, const OperatorRate& b) {
                              return distance(a, wanted) < distance(b, wanted);
                            })
               ->per_second;
  }
  return kCallSeconds + work / rate;
}

double CostModel::device_seconds(const Graph& graph, const Node& node) const {
  const double flops = passes::flops(graph, node);
  if (flops == 0.0)
    return bytes_seconds(*device_, static_cast<double>(passes::bytes_moved(graph, node)),
                         node.op->unfused);
  using graph::Arithmetic;
  const Arithmetic arithmetic = node.op->arithmetic;
  if (arithmetic == Arithmetic::attention || arithmetic == Arithmetic::attention_backward)
    return attention_seconds(*device_, flops, arithmetic == Arithmetic::attention_backward);
  const OperatorRate product = rate_class(graph, node);
  const auto [m, k, n] = product.shape;
  return product_seconds(*device_, m, k, n, product.dtype == "f32",
                         arithmetic == Arithmetic::float8_product);
}

Duration CostModel::calibrated_transfer(const Graph& graph, const Node& collective) const {
  const Link& travels = link(graph::group_of(collective));
  const int64_t bytes = whole_bytes(graph, collective);
  const auto of = [&](const CollectiveTimes& times) {
    return Duration{at_bytes(times.alone, bytes), at_bytes(times.beside_compute, bytes),
                    at_bytes(times.lost, bytes), travels.wire};
  };
  const WorkKind kind = work_kind(graph, collective);
  for (const auto& [of_kind, times] : {std::pair(WorkKind::hops, &travels.to_neighbour),
                                       std::pair(WorkKind::all_to_alls, &travels.all_to_all),
                                       std::pair(WorkKind::exchanges, &travels.activations),
                                       std::pair(WorkKind::sums, &travels.all_reduce)})
    if (kind == of_kind && !times->alone.empty()) return of(*times);
  const Duration gather = of(travels.all_gather), scatter = of(travels.reduce_scatter);
  const bool passes_on = graph::is_send(collective) || graph::is_receive(collective);
  if (graph::gathers(collective) || passes_on) return gather;
  if (graph::scatters(collective)) return scatter;
  return {gather.alone + scatter.alone, gather.beside_compute + scatter.beside_compute,
          gather.lost + scatter.lost, travels.wire};
}

}  // namespace heddle::cost
