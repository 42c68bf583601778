// The memory that this process takes.
#pragma once

#include <cstdint>

namespace heddle {

/// Peak and present resident memory of this process, bytes.
int64_t peak_resident_bytes();
int64_t resident_bytes();

}  // namespace heddle
