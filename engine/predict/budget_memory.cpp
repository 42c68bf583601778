#include "engine/predict/budget_memory.h"

#include <fmt/ranges.h>

#include "engine/recipe/parse.h"

namespace heddle::predict {

passes::BytesByShare& BudgetMemory::of(const recipe::Recipe& recipe, int64_t rank,
                                       const graph::Graph& captured, const cost::Rates& rates) {
  recipe::Recipe same = recipe;
  same.recompute.budget = 1;
  constexpr size_t kMost = 256;
  if (known_.size() >= kMost) known_.clear();
  // Of the rates, memory depends on those that operators' scratch memory does.
  return known_[fmt::format("{}\n{} {} {} {} {}", recipe::to_toml(same), rank,
                            captured.micro_batches, rates.threads, rates.multiprocessors,
                            rates.remote_ranks)];
}

}  // namespace heddle::predict
