// The runs of another store of Heddle, and a run that was exported as one file, which is a store
// too.
#pragma once

#include <string>

#include "storage/run.h"
#include "workbench/importers/importer.h"

namespace heddle::workbench {

inline constexpr const char* kRunFile = ".heddle";

extern const Importer kHeddleStore;

/// The path that names one run of a store: "FILE#7".
std::string path_of_run(const std::string& store, storage::RunId run);

}  // namespace heddle::workbench
