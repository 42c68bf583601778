// The inputs of a step and the numbers that it leaves, in memory of the host: a GPU copies from
// and to there in its turn, while the host does something else.
//
// Thread contract: the executor's thread.
#pragma once

#include "engine/runtime/program.h"

namespace heddle::runtime {

/// A tensor in part of a tensor of bytes, from byte `at` on.
at::Tensor part_of(const at::Tensor& bytes, int64_t at, at::IntArrayRef sizes,
                   c10::ScalarType type);

/// Serves one step at a time; the next one needs another while this one is under way. On a CPU
/// inputs are the program's own.
class HostSide {
 public:
  /// Throws c10::Error where a GPU's host has no memory left for it.
  explicit HostSide(const Program& program);

  /// Where an input is written before it is sent.
  const at::Tensor& input(const std::string& name) const { return inputs_.at(name); }
  /// Puts the copy of the inputs to their place in line.
  void send(const Program& program) const;
  /// The same of the copies of the outputs, which are numbers.
  void fetch(const Program& program);
  /// They, once the device has reached it.
  const NamedTensors& outputs() const { return outputs_; }

 private:
  at::Tensor input_bytes_;
  NamedTensors inputs_, outputs_;
};

}  // namespace heddle::runtime
