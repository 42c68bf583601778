// What all ranks must know of each other: that they run the same plan, what any of them was asked
// for. Every rank calls these, in the same order.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recipe/mesh.h"

namespace heddle::train {

/// `text`: of this rank's plan, which all ranks of a pipeline stage must share. An error, the same
/// kind on all of them, shows the first line in which a rank's plan differs from that of the
/// stage's first.
Result<> agree_on_plan(const std::string& text, const recipe::Mesh& mesh, int64_t rank);

/// The texts of all ranks in their order, on each of them.
std::vector<std::string> gather_texts(const std::string& mine, int64_t ranks);

/// Of each flag whether any rank has set it.
std::vector<bool> any_rank(const std::vector<bool>& mine, int64_t ranks, c10::Device device);

}  // namespace heddle::train
