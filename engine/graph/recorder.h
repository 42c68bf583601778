// Writes down what runs on the trace device: one node an operator call, in execution order.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/graph/ir.h"

namespace heddle::graph {

/// A capture in progress. One at a time in a process; autograd's device thread records into it too,
/// hence the lock. Usage: make inputs and states, run the step on them, `finish`.
class Recorder {
 public:
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// The capture in progress, or nullptr.
  static Recorder* current();

  at::Tensor input(const std::string& name, at::IntArrayRef sizes, c10::ScalarType dtype);
  at::Tensor state(const std::string& name, at::IntArrayRef sizes, c10::ScalarType dtype);
  void output(const std::string& name, const at::Tensor& tensor);

  void set_phase(Phase phase);

  /// Names the module that later forward nodes belong to; returns the name before.
  std::string exchange_module(std::string module);

  /// Records one operator call whose arguments lie on top of `stack` and replaces them by its
  /// results.
  void record(const c10::OperatorHandle& op, torch::jit::Stack* stack);

  /// The graph: sums of gradients named after their consumers, unread nodes removed.
  Graph finish();

 private:
  at::Tensor wrap(at::Tensor meta);
  at::Tensor bind(std::vector<Binding>& bindings, const std::string& name, at::IntArrayRef sizes,
                  c10::ScalarType dtype);
  Arg to_arg(const c10::IValue& value, const c10::Argument& declared, c10::IValue& meta);
  std::string current_module() const;

  std::mutex mutex_;
  Graph graph_;
  Phase phase_ = Phase::forward;
  std::string module_;
  // A backward node belongs to the module that was current when its forward operator took its
  // sequence number: (first number, module), in order.
  std::vector<std::pair<uint64_t, std::string>> modules_by_sequence_;
};

/// Names the module of the nodes recorded while it lives: "layers.3" and inside it "attention" give
/// "layers.3.attention". Costs nothing when no capture is in progress.
class ModuleScope {
 public:
  explicit ModuleScope(const std::string& name);
  ~ModuleScope();
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

 private:
  std::string before_;
};

}  // namespace heddle::graph
