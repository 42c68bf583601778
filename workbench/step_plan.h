// What the plan of a run knows of the spans of its steps.
#pragma once

#include "workbench/bucket_names.h"

namespace heddle::workbench {

struct StepPlan {
  BucketNames buckets;
};

}  // namespace heddle::workbench
