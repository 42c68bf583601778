// A rank's memory by category, as records have it too.
#pragma once

#include "engine/telemetry/memory_bytes.h"

namespace heddle::plan {

using telemetry::Category, telemetry::MemoryBytes, telemetry::MemoryMoment;
using telemetry::kCategories, telemetry::kCategoryNames, telemetry::kMaxMoments;

}  // namespace heddle::plan
