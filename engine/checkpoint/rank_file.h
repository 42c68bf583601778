// One rank's file of a checkpoint, written front to back and hashed on the way.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/manifest.h"
#include "engine/holdings/box.h"

namespace heddle::checkpoint {

/// Gives a part's numbers [begin, end), of its box row by row. They are read before the next call.
using NumberSource = std::function<Result<std::span<const float>>(const holdings::Part& part,
                                                                  int64_t begin, int64_t end)>;

/// Writes FOLDER/NAME, a safetensors file whose tensors are the parts, none of them empty, in this
/// order; durable when
/// it returns. The source is asked front to back, in pieces of kHashedBytes.
Result<Contents> write_rank_file(const std::string& folder, const std::string& name,
                                 const std::vector<holdings::Part>& parts,
                                 const NumberSource& source);

}  // namespace heddle::checkpoint
