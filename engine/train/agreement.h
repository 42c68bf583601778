// All ranks must run the same plan: compared before the first step.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/recipe/mesh.h"

namespace heddle::train {

/// Every rank calls this with the text of its plan, which all ranks of a pipeline stage must share.
/// An error, the same kind on all of them, shows the first line in which a rank's plan differs from
/// that of the stage's first.
Result<> agree_on_plan(const std::string& text, const recipe::Mesh& mesh, int64_t rank);

}  // namespace heddle::train
