#include "engine/recipe/fault_lines.h"

namespace heddle::recipe {

std::string lines_of(const std::vector<Fault>& faults) {
  std::string lines;
  for (const Fault& fault : faults) lines += (lines.empty() ? "" : "\n") + fault.str();
  return lines;
}

}  // namespace heddle::recipe
