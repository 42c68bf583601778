// A metric's curves over steps.
#pragma once

#include "workbench/report/report_data.h"
#include "workbench/report/svg.h"

namespace heddle::workbench {

/// `runs`: an entry a curve.
Svg curve_picture(const ReportChart& chart, const std::vector<storage::RunSummary>& runs);

}  // namespace heddle::workbench
