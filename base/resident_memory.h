// The memory that this process takes.
#pragma once

#include <cstdint>
#include <fstream>

namespace heddle {

/// Peak and present resident memory of this process, bytes.
int64_t peak_resident_bytes();
int64_t resident_bytes();

/// Reads it again and again, in a few microseconds. 0 where the kernel does not tell. One thread.
class ResidentMemory {
 public:
  int64_t bytes() const;

 private:
  mutable std::ifstream file_{"/proc/self/statm"};
};

}  // namespace heddle
