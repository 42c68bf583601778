#include <algorithm>
#include <stdexcept>

#include "engine/optim/optimizer.h"

namespace heddle::optim {

// Each from its file.
Optimizer adamw();
Optimizer sgd();

const std::vector<Optimizer>& optimizers() {
  static const std::vector<Optimizer> all = {adamw(), sgd()};
  return all;
}

const Optimizer& optimizer_of(std::string_view name) {
  const auto found = std::ranges::find(optimizers(), name, &Optimizer::name);
  if (found == optimizers().end()) throw std::out_of_range("no optimizer " + std::string(name));
  return *found;
}

bool Optimizer::has(std::string_view key) const {
  return std::ranges::find(keys, key, &Key::name) != keys.end();
}

}  // namespace heddle::optim
