// Calls operators for an optimizer, on the tensors of the step that is being run or captured.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "engine/optim/update.h"

namespace heddle::step {

class UpdateOperators : public optim::Operators {
 public:
  optim::Value add(const at::Tensor& tensor);
  const at::Tensor& tensor(optim::Value value) const {
    return tensors_[static_cast<size_t>(value)];
  }
  std::vector<optim::Value> call(const std::string& name,
                                 const std::vector<optim::Argument>& arguments) override;

 private:
  std::vector<at::Tensor> tensors_;
};

}  // namespace heddle::step
