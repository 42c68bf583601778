// Trust in store files. A store's rows name hosts to connect to and folders to delete: a store that
// somebody else made is read-only until its user trusts it.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle::storage {

/// Whether the file was made by this user's Heddle on this machine, or trusted since; true where
/// there is none, or an empty one that is this user's and that nobody else can write. Any thread.
bool is_trusted(const std::string& path);

/// Whether `trusted-stores`, in the folder of the default store, lists the file, by inode and time
/// of birth: a copy is another file, one that was moved is the same.
bool is_listed(const std::string& path);

/// Lists the file. Errors: it is not there, the list cannot be written.
Result<> trust(const std::string& path);

/// Why a store that is not trusted cannot be written, and how it becomes so.
Error untrusted(const std::string& path);

}  // namespace heddle::storage
