// All ranks must run the same plan: compared before the first step.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle::train {

/// Every data-parallel rank calls this with the text of its plan. An error, the same kind on all
/// ranks, shows the first line in which a rank's plan differs from rank 0's.
Result<> agree_on_plan(const std::string& text, int64_t rank, int64_t ranks);

}  // namespace heddle::train
