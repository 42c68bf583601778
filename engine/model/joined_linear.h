// Linear layers that read the same rows, as one.
#pragma once

#include <vector>

#include "engine/model/llama.h"

namespace heddle::model {

/// A linear layer and its name within the module that has it.
struct NamedLayer {
  const char* name;
  LinearLayer& layer;
};

/// The products of several layers' weights with the same rows as one, and that for the gradient of
/// the rows.
class JoinedLinear {
 public:
  /// Whether these layers' weights are bf16, so that each is made for the step, and fill aligned
  /// buffers without padding, so that they can be made side by side. In fp32 they may lie where the
  /// optimizer has them, and products on CPUs take 1 to 2 % longer joined; in 8 bits each has its
  /// own scale.
  static bool joins(const std::vector<NamedLayer>& layers, const recipe::Float8Layers& float8);

  /// Reads the parameters.
  explicit JoinedLinear(const std::vector<NamedLayer>& layers);

  /// x [n, in] → [n, sum of out], layer after layer; see linear.h.
  at::Tensor operator()(at::Tensor& x) const;

 private:
  std::vector<at::Tensor> weights_;
  at::Tensor whole_, bias_;
};

}  // namespace heddle::model
