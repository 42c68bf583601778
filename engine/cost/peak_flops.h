// What a GPU could do at most.
#pragma once

#include <optional>
#include <string_view>

namespace heddle::cost {

/// Peak dense bf16 FLOP/s (NVIDIA's data sheets) of a GPU by the name that its driver gives, as
/// "NVIDIA H100 80GB HBM3". Nothing for one that is not listed: a guess would make a wrong MFU.
std::optional<double> peak_flops(std::string_view gpu);

}  // namespace heddle::cost
