#include "engine/predict/budget_memory.h"

#include <fmt/ranges.h>

#include "engine/recipe/parse.h"

namespace heddle::predict {

passes::BytesByShare& BudgetMemory::of(const recipe::Recipe& recipe, int64_t rank,
                                       const graph::Graph& captured, const cost::Rates& rates) {
  recipe::Recipe same = recipe;
  same.recompute.budget = 1;
  constexpr size_t kMax = 256;
  if (known_.size() >= kMax) known_.clear();
  // Memory depends on the rates that operators' scratch memory depends on.
  return known_[fmt::format("{}\n{} {} {} {} {}", recipe::to_toml(same), rank,
                            captured.micro_batches, rates.threads, rates.multiprocessors,
                            rates.remote_ranks)];
}

}  // namespace heddle::predict
