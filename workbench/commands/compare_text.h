// Runs side by side, as a table.
#pragma once

#include <string>

#include "storage/queries.h"

namespace heddle::workbench {

std::string compare_text(const storage::Comparison& comparison);

}  // namespace heddle::workbench
