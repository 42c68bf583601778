// The system calls that make files durable, and what is built of them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/new_file.h"
#include "base/result.h"

namespace heddle::checkpoint {

/// Calls that a disk can refuse. Tests put calls here that fail; set them before other threads
/// write.
struct FileCalls {
  ssize_t (*write)(int descriptor, const void* bytes, size_t count);
  int (*fsync)(int descriptor);
  int (*rename)(const char* from, const char* to);
};
extern FileCalls file_calls;

/// Writes all bytes; `path` names the file in errors.
Result<> write_all(int descriptor, const void* bytes, size_t count, const std::string& path);

/// Makes the names in a folder durable. File systems that cannot are left to themselves.
Result<> sync_folder(const std::string& folder);

/// Renames a file or folder and makes that durable.
Result<> rename_durably(const std::string& from, const std::string& to);

/// A file that gets its name when it is finished.
Result<NewFile> new_file(const std::string& path);
/// Makes it durable and gives it its name, `path`.
Result<> finish(NewFile& file, const std::string& path);

/// Replaces a file: a new one is written, made durable and renamed.
Result<> write_file(const std::string& path, std::string_view content);

}  // namespace heddle::checkpoint
