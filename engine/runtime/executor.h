// Runs a graph on real tensors, node by node.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/graph/ir.h"
#include "engine/runtime/timeline.h"

namespace heddle::runtime {

using NamedTensors = std::map<std::string, at::Tensor>;

/// A graph made ready to run: operators looked up, the last reader of each value known, so that
/// memory is given back as soon as it can be. One thread.
class Executor {
 public:
  /// Binds the graph's states to tensors, which each step changes in place. An error names the
  /// state that is missing or has another shape, or the operator that does not exist. All states
  /// lie on `device`.
  static Result<Executor> create(graph::Graph graph, const NamedTensors& states,
                                 c10::Device device);

  /// One step. `micro_batches` holds the inputs of each forward and backward, `step_inputs` those
  /// that stay the same in all of them. Returns the graph's outputs. With a timeline, every node
  /// leaves a span. Throws c10::Error as operators do.
  NamedTensors run(const std::vector<NamedTensors>& micro_batches, const NamedTensors& step_inputs,
                   Timeline* timeline = nullptr);

  const graph::Graph& graph() const { return graph_; }

 private:
  struct Instruction {
    c10::OperatorHandle op;
    size_t node;
    std::vector<graph::ValueId> dead_after;
  };

  Executor(graph::Graph graph, c10::Device device) : graph_(std::move(graph)), device_(device) {}
  void find_last_reads();
  void feed(const NamedTensors& inputs);
  void run_phase(bool optimizer, Timeline* timeline);
  void run_node(const Instruction& instruction, Timeline* timeline);
  void record_span(const graph::Node& node, int64_t start,
                   const std::shared_ptr<std::atomic<int64_t>>& end_us, Timeline& timeline);
  c10::IValue argument(const graph::Arg& arg) const;

  graph::Graph graph_;
  c10::Device device_;  // where the graph names the trace device
  std::vector<Instruction> instructions_;
  std::vector<at::Tensor> values_;  // by ValueId
  std::map<std::string, graph::ValueId> input_values_;
  // Collectives under way in a profiled step: their span and, once it is known, their end.
  struct UnderWay {
    telemetry::Span span;
    std::shared_ptr<std::atomic<int64_t>> end_us;
  };
  std::map<graph::ValueId, UnderWay> under_way_;
};

}  // namespace heddle::runtime
