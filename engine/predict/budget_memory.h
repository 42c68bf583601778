// Plans that were made to find how much of a step a budget of recomputation keeps: recipes that
// differ in their budget alone share them.
#pragma once

#include <map>
#include <string>

#include "engine/cost/rates.h"
#include "engine/graph/ir.h"
#include "engine/passes/budget.h"
#include "engine/recipe/recipe.h"

namespace heddle::predict {

/// One thread at a time.
class BudgetMemory {
 public:
  /// The training step `captured` of a recipe, planned for a rank.
  passes::BytesByShare& of(const recipe::Recipe& recipe, int64_t rank, const graph::Graph& captured,
                           const cost::Rates& rates);

 private:
  std::map<std::string, passes::BytesByShare> known_;
};

}  // namespace heddle::predict
