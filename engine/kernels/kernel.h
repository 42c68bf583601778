// Code that every CPU kernel of this folder shares.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <bit>

// The loops of this folder vectorise well: one version an instruction set, chosen at load time.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define HEDDLE_VECTORIZED \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HEDDLE_VECTORIZED
#endif

namespace heddle::kernels {

/// The operator heddle::NAME with its C++ signature.
template <typename Signature>
c10::TypedOperatorHandle<Signature> find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").template typed<Signature>();
}

/// Throws unless `tensor` is fp32 or bf16.
inline void check_type(const at::Tensor& tensor, const char* what) {
  TORCH_CHECK(tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kBFloat16, what,
              " must be fp32 or bf16, not ", tensor.scalar_type());
}

/// Calls `kernel(float())` or `kernel(at::BFloat16())`, by the tensor's type.
template <typename Kernel>
void by_type(const at::Tensor& tensor, Kernel&& kernel) {
  if (tensor.scalar_type() == at::kFloat) {
    kernel(float());
  } else {
    kernel(at::BFloat16());
  }
}

// Kernels compute in fp32 whatever they read and write. LibTorch's own conversions do not
// vectorise.
inline float load(const float* from) { return *from; }
inline float load(const at::BFloat16* from) {
  return std::bit_cast<float>(static_cast<uint32_t>(from->x) << 16);
}
inline void store(float* to, float value) { *to = value; }
inline void store(at::BFloat16* to, float value) {  // rounds to nearest, ties to even
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  to->x = static_cast<uint16_t>(value != value ? 0x7FC0 : rounded);
}

/// e^x within 2 ulp, written so that loops around it vectorise (libm's does not): range reduction
/// to [−ln2/2, ln2/2] and a polynomial of degree 6 (Cody & Waite, Software Manual for the
/// Elementary Functions, 1980). Saturates outside [−87.3, 88.3].
inline float vector_exp(float x) {
  x = std::min(std::max(x, -87.3F), 88.3F);
  constexpr float kRound = 12582912.0F;  // 1.5 · 2²³: adding it rounds to a whole number
  const float n = (x * 1.44269504F + kRound) - kRound;
  const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  return p * std::bit_cast<float>((static_cast<int32_t>(n) + 127) << 23);
}

/// Asks for `n` elements that are read or written soon. A core's own prefetching stops at every
/// page of 4 KiB and asks for nothing that is only written. Always inlined: gcc drops calls that do
/// nothing else.
template <typename T>
[[gnu::always_inline]] inline void prefetch(const T* from, int64_t n) {
  constexpr int64_t kLine = 64;
  const auto* first = reinterpret_cast<const char*>(from);
  for (int64_t i = 0; i < n * static_cast<int64_t>(sizeof(T)); i += kLine)
    __builtin_prefetch(first + i, 0, 2);
}

/// Elements that a loop over long ranges does between two calls of `prefetch_ahead`.
inline constexpr int64_t kPrefetched = 64;

/// Prefetches for a loop over a long range: `kPrefetched` elements, 256 ahead.
template <typename T>
[[gnu::always_inline]] inline void prefetch_ahead(const T* at) {
  prefetch(at + 256, kPrefetched);
}

/// Elements of a kernel's work that are worth a task.
inline constexpr int64_t kGrain = 16384;

/// The same in rows.
inline int64_t grain(int64_t columns) {
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, columns));
}

}  // namespace heddle::kernels
