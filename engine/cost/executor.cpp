#include "engine/cost/executor.h"

#include <algorithm>

namespace heddle::cost {

std::optional<Executor> executor_of(std::string_view name) {
  const auto found = std::ranges::find(kExecutorNames, name);
  if (found == kExecutorNames.end()) return std::nullopt;
  return static_cast<Executor>(found - kExecutorNames.begin());
}

std::string_view words(Executor executor) {
  switch (executor) {
    case Executor::heddle:
      return "Heddle's plan";
    case Executor::compiled:
      return "torch.compile and FSDP2";
    case Executor::eager:
      return "FSDP2 without torch.compile";
  }
  return "";
}

}  // namespace heddle::cost
