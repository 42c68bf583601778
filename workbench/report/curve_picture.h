// A metric's curves over steps or another x.
#pragma once

#include "workbench/report/report_data.h"
#include "workbench/report/svg.h"

namespace heddle::workbench {

Svg curve_picture(const Report& report, const ReportChart& chart);

}  // namespace heddle::workbench
