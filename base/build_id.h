// The build that the engine and its CUDA plug-in come from: they share C++ types, so only files of
// one build fit together.
#pragma once

#include <string_view>

namespace heddle {

/// Precedes the id in both files, for programs that read it there.
inline constexpr std::string_view kBuildMark = "heddle-build-id:";
/// At most.
inline constexpr size_t kBuildIdLength = 64;

/// The calling program's build: a hash of the sources, or "without-cuda".
std::string_view build_id();

}  // namespace heddle
