// How results of kernels on the emulator are judged.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

#include "engine/kernels/launch.h"
#include "tests/engine/kernels/host/array.h"
#include "tests/engine/kernels/host/emulator.h"

namespace heddle::emulator {

using Bf16 = __nv_bfloat16;

template <typename T>
inline constexpr kernels::cuda::Type kType =
    std::is_same_v<T, Bf16> ? kernels::cuda::Type::bf16 : kernels::cuda::Type::fp32;

/// Half the distance of 1 to the next larger number, of T.
template <typename T>
inline constexpr double kUnit = std::is_same_v<T, Bf16> ? 0x1p-8 : 0x1p-24;

/// Roundings on the way of a term to its sum over n terms by a block of 256 threads: the most of
/// any thread, five shuffles, eight warps.
inline double sum_roundings(size_t n) {
  return std::ceil(static_cast<double>(n) / 256) + 8 + 5 + 8;
}

/// Gathers how far a kernel's results are from the formula's in fp64, from the same inputs.
class Closeness {
 public:
  /// A result of type T may be off by `roundings` in fp32 of terms whose sizes add up to `size`,
  /// and by the one to T. Both not a number is close, too.
  template <typename T>
  void see(double got, double want, double size, double roundings) {
    const double computed = roundings * kUnit<float> * size + 1e-37;
    see_within(
        got, want,
        std::is_same_v<T, Bf16> ? computed + kUnit<T> * (std::abs(want) + computed) : computed);
  }
  void see_within(double got, double want, double allowed) {
    if (got == want || (std::isnan(got) && std::isnan(want))) return;
    const double share = std::abs(got - want) / allowed;
    if (share <= worst_) return;  // not a number is none
    worst_ = std::isnan(share) ? INFINITY : share;
    text_ = std::to_string(got) + " where the formula gives " + std::to_string(want) + ": " +
            std::to_string(worst_) + " of what may be off";
  }

  bool holds() const { return worst_ <= 1; }
  double worst() const { return worst_; }
  const char* text() const { return text_.c_str(); }

 private:
  double worst_ = 0;
  std::string text_;
};

/// `make` where threads run in the order that is not the usual one: what is computed in place of an
/// operand is, so that a thread finds written what it must have read before.
template <typename Make>
auto in_other_order(Make&& make) {
  set_order(Order::descending);
  auto results = make();
  set_order(Order::ascending);
  return results;
}

/// The result of `make`, a tuple of arrays, whatever order threads run in. Throws
/// std::runtime_error where that changes bits, or where memory around a result was written.
template <typename Make>
auto in_any_order(Make&& make) {
  const auto other = in_other_order(make);
  auto results = make();
  [&]<size_t... I>(std::index_sequence<I...>) {
    if (!(std::get<I>(results).same_bits(std::get<I>(other)) && ...))
      throw std::runtime_error("the order of threads changes a result");
    if (!(std::get<I>(results).intact() && ...))
      throw std::runtime_error("memory around a result was written");
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(results)>>());
  return results;
}

}  // namespace heddle::emulator
