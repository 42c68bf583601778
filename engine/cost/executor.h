// Who runs the step, and what it does about it that Heddle does not.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::cost {

/// Heddle's plan as it is; torch.compile with FSDP2, which copies in and out of buckets and
/// launches kernels one by one; FSDP2 without torch.compile, whose small operators are several
/// kernels each.
enum class Executor { heddle, compiled, eager };
inline constexpr std::array kExecutorNames = {"heddle", "compiled", "eager"};

std::optional<Executor> executor_of(std::string_view name);
/// For people: "torch.compile and FSDP2".
std::string_view words(Executor executor);

/// What an executor makes of one of Heddle's operators: so many kernels that move so many times the
/// bytes of it.
struct Kernels {
  double bytes = 1, count = 1;
};
Kernels kernels_of(Executor executor, std::string_view op);

}  // namespace heddle::cost
