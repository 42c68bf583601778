// Files read at once, up to a size: whole, in part, or their ends. Piece by piece: PlainFile. Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/plain_file.h"
#include "base/result.h"

namespace heddle {

/// The bytes of a regular file that has at most `most`. Never waits (a pipe is refused, not read).
/// Errors: "PATH: cannot be read: No such file or directory".
Result<std::string> read_file(const std::string& path, size_t most);

/// The same of a file that a user names, which may be a pipe: that is read to its end, and waited
/// for (`<(…)`, /dev/stdin).
Result<std::string> read_named_file(const std::string& path, size_t most);

/// As read_file; nothing where there is no such file, an error where a link is not to be followed.
Result<std::optional<std::string>> read_file_if_there(
    const std::string& path, size_t most, PlainFile::Links links = PlainFile::Links::follow,
    PlainFile::Owner owner = PlainFile::Owner::any);

/// From byte `from` on, at most `most` bytes; none where there is no such regular file.
std::optional<std::string> read_part(const std::string& path, uint64_t from, size_t most);

/// A file's bytes from `from` on, at most the last `most` bytes of it. Empty where it cannot
/// be read.
std::string tail_of_file(const std::string& path, uint64_t from, size_t most);

}  // namespace heddle
