// The header of NumPy's .npy files.
#pragma once

#include "base/plain_file.h"
#include "base/result.h"
#include "engine/data/stored_ids.h"

namespace heddle::data {

/// Where the ids are. Errors begin with the path: it is no .npy file, of another type, of more than
/// one dimension, or cut short. Source: NumPy's format 1.0 to 3.0.
Result<StoredIds> read_npy_header(const PlainFile& file);

}  // namespace heddle::data
