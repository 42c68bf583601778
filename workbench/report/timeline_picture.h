// Measured steps one above another: what computes, and what compute waits for.
#pragma once

#include <optional>

#include "workbench/report/report_data.h"
#include "workbench/report/svg.h"

namespace heddle::workbench {

/// None: no run has a measured step.
std::optional<Svg> timeline_picture(const Report& report);

}  // namespace heddle::workbench
