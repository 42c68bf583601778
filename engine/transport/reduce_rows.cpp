#include "engine/transport/reduce_rows.h"

#include <c10/util/BFloat16.h>

#include <algorithm>

#include "engine/kernels/kernel.h"

namespace heddle::transport {
namespace {

// Elements whose partial sums stay in the first-level cache.
constexpr size_t kBlock = 1024;

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

// As at::maximum: not a number wins.
struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

template <typename T, typename Sum, typename Combine>
[[gnu::always_inline]] inline void reduce(std::byte* out, const std::byte* const* rows, int count,
                                          size_t bytes, Combine combine) {
  const size_t n = bytes / sizeof(T);
  Sum sum[kBlock];
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t length = std::min(kBlock, n - begin);
    const T* first = reinterpret_cast<const T*>(rows[0]) + begin;
    for (size_t i = 0; i < length; ++i) sum[i] = static_cast<Sum>(first[i]);
    for (int r = 1; r < count; ++r) {
      const T* row = reinterpret_cast<const T*>(rows[r]) + begin;
      for (size_t i = 0; i < length; ++i) sum[i] = combine(sum[i], static_cast<Sum>(row[i]));
    }
    T* result = reinterpret_cast<T*>(out) + begin;
    for (size_t i = 0; i < length; ++i) result[i] = static_cast<T>(sum[i]);
  }
}

HEDDLE_VECTORIZED void sum_float(std::byte* out, const std::byte* const* rows, int count,
                                 size_t bytes) {
  reduce<float, float>(out, rows, count, bytes, Add());
}

HEDDLE_VECTORIZED void sum_bfloat16(std::byte* out, const std::byte* const* rows, int count,
                                    size_t bytes) {
  reduce<c10::BFloat16, float>(out, rows, count, bytes, Add());
}

template <typename Combine>
void reduce_any(c10::ScalarType dtype, std::byte* out, const std::byte* const* rows, int count,
                size_t bytes, Combine combine) {
  switch (dtype) {
    case at::kFloat:
      return reduce<float, float>(out, rows, count, bytes, combine);
    case at::kDouble:
      return reduce<double, double>(out, rows, count, bytes, combine);
    case at::kBFloat16:
      return reduce<c10::BFloat16, float>(out, rows, count, bytes, combine);
    case at::kLong:
      return reduce<int64_t, int64_t>(out, rows, count, bytes, combine);
    default:
      TORCH_CHECK(false, "the CPU transport does not reduce ", dtype);
  }
}

}  // namespace

bool can_reduce(c10::ScalarType dtype) {
  return dtype == at::kFloat || dtype == at::kDouble || dtype == at::kBFloat16 ||
         dtype == at::kLong;
}

void reduce_rows(Reduction reduction, c10::ScalarType dtype, std::byte* out,
                 const std::byte* const* rows, int count, size_t bytes) {
  if (reduction == Reduction::max) return reduce_any(dtype, out, rows, count, bytes, Max());
  if (dtype == at::kFloat) return sum_float(out, rows, count, bytes);
  if (dtype == at::kBFloat16) return sum_bfloat16(out, rows, count, bytes);
  reduce_any(dtype, out, rows, count, bytes, Add());
}

}  // namespace heddle::transport
