// The passes' names, in their order; pipeline.cpp has their functions. No LibTorch here.
#pragma once

#include <array>

namespace heddle::passes {

inline constexpr std::array kPassNames = {"recompute", "stage", "fuse",    "unroll", "join",
                                          "bucket",    "casts", "overlap", "memory"};

}  // namespace heddle::passes
