// Memory that kernels read and write, between pages that they cannot touch: what goes further than
// the next 64 bytes behind it crashes, what changes those is noticed, and AddressSanitizer reports
// both, where it is built in, and reading as well.
#pragma once

#include <cuda_bf16.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <random>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(from, bytes) ((void)(from))
#define ASAN_UNPOISON_MEMORY_REGION(from, bytes) ((void)(from))
#endif

namespace heddle::emulator {

inline double as_double(__nv_bfloat16 value) { return __bfloat162float(value); }
template <typename T>
double as_double(T value) {
  return static_cast<double>(value);
}

/// `value` as T, rounded.
template <typename T>
T rounded(double value) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __float2bfloat16_rn(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

/// n elements of T, the first at an address that is a multiple of 32 bytes, and `shift` elements
/// more. At first all their bits are set: numbers are NaN.
template <typename T>
class Array {
 public:
  explicit Array(size_t n, size_t shift = 0) : n_(n) {
    const size_t bytes = n * sizeof(T), off = shift * sizeof(T) % kAligned;
    inside_ = (bytes + kAligned + kPage - 1) / kPage * kPage;
    void* all = mmap(nullptr, inside_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<char*>(all) + kPage;
    mprotect(begin_, inside_, PROT_READ | PROT_WRITE);
    data_ = begin_ + (inside_ - bytes) / kAligned * kAligned + off;
    if (data_ + bytes > begin_ + inside_) data_ -= kAligned;
    std::memset(begin_, kGuard, inside_);
    std::memset(data_, 0xFF, bytes);
    forbid_around();
  }
  Array(Array&& other) noexcept
      : n_(other.n_),
        inside_(other.inside_),
        begin_(std::exchange(other.begin_, nullptr)),
        data_(other.data_) {}
  Array& operator=(Array&&) = delete;
  ~Array() {
    if (!begin_) return;
    ASAN_UNPOISON_MEMORY_REGION(begin_, inside_);
    munmap(begin_ - kPage, inside_ + 2 * kPage);
  }

  /// Normally distributed.
  static Array random(size_t n, size_t shift = 0, double scale = 1.0) {
    static std::mt19937 bits(1);
    std::normal_distribution<double> numbers(0.0, scale);
    Array array(n, shift);
    for (size_t i = 0; i < n; ++i) array.set(i, numbers(bits));
    return array;
  }
  static Array of(const std::vector<double>& values, size_t shift = 0) {
    Array array(values.size(), shift);
    for (size_t i = 0; i < values.size(); ++i) array.set(i, values[i]);
    return array;
  }
  Array copy(size_t shift = 0) const {
    Array array(n_, shift);
    std::memcpy(array.data_, data_, n_ * sizeof(T));
    return array;
  }

  T* data() { return reinterpret_cast<T*>(data_); }
  const T* data() const { return reinterpret_cast<const T*>(data_); }
  size_t size() const { return n_; }
  double operator[](size_t i) const { return as_double(data()[i]); }
  void set(size_t i, double value) { data()[i] = rounded<T>(value); }
  bool same_bits(const Array& other) const {
    return n_ == other.n_ && std::memcmp(data_, other.data_, n_ * sizeof(T)) == 0;
  }

  /// Whether nothing around it was written.
  bool intact() const {
    ASAN_UNPOISON_MEMORY_REGION(begin_, inside_);
    bool whole = true;
    for (const char* at = begin_; at < begin_ + inside_; ++at)
      whole = whole && ((at >= data_ && at < data_ + n_ * sizeof(T)) || *at == kGuard);
    forbid_around();
    return whole;
  }

 private:
  static constexpr size_t kPage = 4096, kAligned = 32;
  static constexpr char kGuard = 0x7F;

  void forbid_around() const {
    ASAN_POISON_MEMORY_REGION(begin_, static_cast<size_t>(data_ - begin_));
    ASAN_POISON_MEMORY_REGION(data_ + n_ * sizeof(T),
                              static_cast<size_t>(begin_ + inside_ - data_) - n_ * sizeof(T));
  }

  size_t n_;
  size_t inside_;  // bytes between the pages
  char *begin_, *data_;
};

}  // namespace heddle::emulator
