// Validation: the loss on held-out text, and samples of what the model writes.
#pragma once

#include <string>
#include <vector>

#include "engine/inputs/held_out.h"
#include "engine/recipe/layout.h"
#include "engine/recipe/recipe.h"
#include "engine/train/runner.h"

namespace heddle::train {

/// Every rank has one and calls it at the same steps, under any layout, which outlives it.
class Validator {
 public:
  Validator(const recipe::Recipe& recipe, const recipe::Layout& layout, inputs::HeldOut held_out,
            int64_t rank, c10::Device device);

  /// The mean loss over the tokens of as many of the text's samples as the recipe says; over all
  /// that have one before them in their sample where it says 0. The same under any layout. Waits
  /// for text that is not tokenized yet.
  Result<double> loss(Runner& runner) const;

  struct Sample {
    double temperature = 0;  // 0: always the likeliest token
    std::string text;        // behind the prompt
  };
  /// The model's text after the recipe's prompt, by the likeliest token and with the recipe's
  /// temperature; none where the recipe asks for none. The same on all ranks; by seed and step.
  std::vector<Sample> samples(Runner& runner, int64_t step);

 private:
  at::Tensor logits_at(Runner& runner, const std::vector<int32_t>& tokens) const;

  recipe::Recipe recipe_;  // of what the ranks do at once
  const recipe::Layout& layout_;
  int64_t sequences_;  // of the text at most; 0: all
  inputs::HeldOut held_out_;
  int64_t rank_;
  c10::Device device_;
};

}  // namespace heddle::train
