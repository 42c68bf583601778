// The budget of recomputation that spends the memory there is: each layer keeps what is dearest to
// make again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "engine/plan/search_result.h"
#include "engine/search/space.h"

namespace heddle::search {

/// Plans a layout; nothing where that is not possible.
using PlanLayout = std::function<std::optional<plan::Found>(const Choice&)>;

/// Plans `layout`, of so many layers, with full and without recomputation, and between the two with
/// budgets, each closer to `limit` bytes. The remaining memory then keeps some layers whole. Few
/// plans: memory grows with the budget, in steps.
void search_budget(const Choice& layout, int64_t layers, int64_t limit, const PlanLayout& plan);

}  // namespace heddle::search
