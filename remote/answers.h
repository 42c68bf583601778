// Parses the file listings that a host's small programs print.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "remote/node.h"

namespace heddle::remote {

/// Per entry "MODE SIZE MTIME NAME" and a zero byte; what is none is left out.
std::vector<Entry> entries_from(std::string_view answer);

/// Per range "SIZE\n" and that many bytes, or "-\n" where there is no such file. An error names the
/// range's file.
Result<std::vector<std::optional<std::string>>> pieces_from(std::string_view answer,
                                                            const std::vector<Range>& ranges);

}  // namespace heddle::remote
