// Whether what a manifest says of its files and tensors can be.
#pragma once

#include "engine/checkpoint/manifest.h"

namespace heddle::checkpoint {

/// Shards lie within their tensor and file, each has its own place in both, and together they leave
/// nothing of a tensor out. An error names the file or tensor.
Result<> check_contents(const Contents& contents);

}  // namespace heddle::checkpoint
