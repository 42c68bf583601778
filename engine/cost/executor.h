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

}  // namespace heddle::cost
