// Files that survive a crash: written under another name, fsynced, renamed, the folder fsynced.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/new_file.h"
#include "base/result.h"

namespace heddle {

/// The calls that a disk can refuse. Tests put failing ones here; set them before other threads
/// write.
struct FileCalls {
  ssize_t (*write)(int descriptor, const void* bytes, size_t count);
  int (*fsync)(int descriptor);
  int (*rename)(const char* from, const char* to);
};
extern FileCalls file_calls;

/// Modes of new files, less the umask.
inline constexpr mode_t kPrivate = 0600, kReadable = 0644;

/// Writes all bytes; `path` names the file in errors.
Result<> write_all(int descriptor, const void* bytes, size_t count, const std::string& path);

/// Makes the names in a folder durable. File systems that cannot are left to themselves.
Result<> sync_folder(const std::string& folder);

/// Renames a file or folder and makes that durable.
Result<> rename_durably(const std::string& from, const std::string& to);

/// Makes a file durable and gives it its name, `path`.
Result<> place_durably(NewFile& file, const std::string& path);

/// Replaces a file.
Result<> write_atomically(const std::string& path, std::string_view content,
                          mode_t mode = kPrivate);

/// Room set aside for a file that is written later, so that a disk that has become full by then
/// does not matter; given back where it is not used. An error: there is no such room.
Result<NewFile> reserve(const std::string& path, int64_t bytes);
/// As above, into that room.
Result<> write_atomically(NewFile room, const std::string& path, std::string_view content);

}  // namespace heddle
