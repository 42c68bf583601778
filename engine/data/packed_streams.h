// Packed files as the bytes that were packed.
#pragma once

#include <memory>

#include "engine/data/byte_stream.h"

namespace heddle::data {

/// The content of a gzip file, all of its members. Errors begin with `path`: one that is cut short,
/// or damaged.
std::unique_ptr<ByteStream> gunzipped(std::unique_ptr<ByteStream> packed, const std::string& path);

/// The same of a Zstandard file, all of its frames.
std::unique_ptr<ByteStream> unzstd(std::unique_ptr<ByteStream> packed, const std::string& path);

}  // namespace heddle::data
