#include "base/unique_name.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

namespace heddle {

std::string unique_name() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) abort();
  return fmt::format("{:016x}", number);
}

}  // namespace heddle
