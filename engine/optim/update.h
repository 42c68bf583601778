// One parameter's update as calls of operators. The step makes graph nodes of them when it is
// captured, and runs them when it is not.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace heddle::optim {

/// A tensor of the step, which only the step looks into.
enum class Value : size_t {};

using Argument = std::variant<Value, std::vector<Value>, double, bool>;

class Operators {
 public:
  virtual ~Operators() = default;

  /// Calls an operator by its name, as in "heddle::adamw_", and returns its results.
  virtual std::vector<Value> call(const std::string& name,
                                  const std::vector<Argument>& arguments) = 0;
};

/// The operands of an update. Parameter, states and gradient are a rank's shards; the others have
/// no dimensions.
struct Operands {
  Value parameter;            // fp32, written
  std::vector<Value> states;  // in the optimizer's order, written
  Value gradient;             // fp32
  Value rate;                 // fp64: the step's learning rate
  Value step;                 // int64, 1-based
  Value factor;               // fp32: multiplies the gradient; 0: nothing changes
  double weight_decay = 0;
};

}  // namespace heddle::optim
