// Run directories of Heddle, wherever they were trained.
#pragma once

#include "workbench/importers/importer.h"

namespace heddle::workbench {

extern const Importer kHeddleRun;

}  // namespace heddle::workbench
