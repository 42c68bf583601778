// A list of JSON as lines.
#pragma once

#include <memory>

#include "engine/data/byte_stream.h"

namespace heddle::data {

/// Each element of a list on a line of its own, whatever lines the file has; what is no list stays
/// as it is, without the byte-order mark that may come first. A list that does not end is an error,
/// which begins with `path`.
std::unique_ptr<ByteStream> elements_as_lines(std::unique_ptr<ByteStream> json,
                                              const std::string& path);

}  // namespace heddle::data
