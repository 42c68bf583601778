// Which build the engine and its CUDA plug-in are of: they share C++ types, so that only those of
// one build fit together.
#pragma once

#include <string_view>

namespace heddle {

/// What precedes the id in both files, for whoever reads it there.
inline constexpr std::string_view kBuildMark = "heddle-build-id:";
/// At most.
inline constexpr size_t kBuildIdLength = 64;

/// Of the program that calls: a hash of the sources, or "without-cuda".
std::string_view build_id();

}  // namespace heddle
