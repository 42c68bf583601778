// Which build the engine or its plug-in is of, read from the file.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle::remote {

/// The text after kBuildMark (base/build_id.h) in the file; empty: none.
Result<std::string> build_id_of(const std::string& file);

}  // namespace heddle::remote
