// A run's layout on some of its hosts: fewer data-parallel ranks, the same global batch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recipe/recipe.h"

namespace heddle::workbench {

struct FewerHosts {
  std::vector<size_t> hosts;      // that the layout takes, of those that are left
  std::vector<std::string> sets;  // "key=value", on top of the recipe
};

/// The layout of a resolved recipe, whose ranks are on `hosts` hosts, on as many as possible of the
/// ones that are `left`: tp, cp and pp stay, and so does the global batch. An error says what does
/// not divide.
Result<FewerHosts> fit_fewer_hosts(const recipe::Recipe& recipe, size_t hosts,
                                   std::vector<size_t> left);

}  // namespace heddle::workbench
