// Token stores on their way to hosts: what is tokenized here, no host tokenizes again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recipe/recipe.h"
#include "remote/node.h"

namespace heddle::workbench {

/// A run's token stores, here and on its hosts.
struct StoresOfRun {
  recipe::Recipe recipe;  // with this machine's paths
  std::string text;       // the same as a file
  /// By node: the engine there, and the recipe with the node's paths.
  std::vector<remote::Node*> nodes;
  std::vector<std::string> engines, recipe_files;
  std::string root;  // the folder of data there, which hosts may share
};

/// The activity, and bytes done and in total (0: unknown); false cancels.
using StoreProgressed = std::function<bool(const std::string& what, uint64_t, uint64_t)>;

/// Brings the stores to the hosts that lack them, once to those that share them. Texts that are not
/// tokenized here yet are, for several hosts; a single one is left to tokenize while it trains.
/// Where the texts or the tokenizer have a fault, nothing is brought: the ranks report it.
Result<> bring_stores(const StoresOfRun& run, const StoreProgressed& progress);

}  // namespace heddle::workbench
