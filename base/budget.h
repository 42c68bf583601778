// How much a text from outside may hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle {

/// Every number, text, flag, null, list, object and name of a member is a value. In memory one
/// takes up to about 90 bytes, whatever it took in the text.
struct Budget {
  size_t bytes = size_t{16} << 20;
  size_t values = 1'000'000;
  size_t depth = 32;  // lists and objects within each other
};

/// A tensor's numbers: their bytes can be counted.
inline constexpr int64_t kMaxNumbers = int64_t{1} << 56;

}  // namespace heddle
