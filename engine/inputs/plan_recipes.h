// From a question's text to the recipe that is planned. No LibTorch here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "base/result.h"
#include "engine/plan/question.h"
#include "engine/recipe/parse.h"

namespace heddle::inputs {

/// Remembers tokenizers' vocabularies. One thread at a time.
class PlanRecipes {
 public:
  /// The recipe, resolved, with its vocabulary's size; or all faults that `train` reports, in the
  /// same words. Data may still be missing, and files that are named need not be there.
  recipe::Parsed read(const plan::PlanQuestion& question);

 private:
  Result<int64_t> vocabulary(const recipe::Recipe& recipe);

  /// By tokenizer, its time and the model's rows.
  std::map<std::tuple<std::string, int64_t, int64_t>, int64_t> vocabulary_;
};

}  // namespace heddle::inputs
