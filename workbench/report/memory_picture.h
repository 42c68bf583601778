// Peak memory by category, predicted and measured, a bar each.
#pragma once

#include <optional>

#include "workbench/report/report_data.h"
#include "workbench/report/svg.h"

namespace heddle::workbench {

/// None: nothing is known of any run.
std::optional<Svg> memory_picture(const Report& report);

}  // namespace heddle::workbench
