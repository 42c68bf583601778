// Stores in places where this user writes nothing: mounted read-only, full, or somebody else's.
// SQLite makes files next to a store even to read it; where it cannot, the store's file is read
// alone.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle::storage {

/// Whether this user may write the store and make files next to it; true where there is no store
/// yet. Any thread.
bool is_writable(const std::string& path);

/// Whether its disk has no room for the files that SQLite makes next to a store.
bool is_disk_full(const std::string& path);

/// Why nothing in such a store is changed.
Error unwritable(const std::string& path);

/// The store's name for SQLite::OPEN_URI: its file alone, as one that nobody changes: no lock, no
/// -wal or -shm file next to it, no checkpoint.
std::string immutable_uri(const std::string& path);
/// The same where the store cannot be written, or its disk is full and nobody has it open, and
/// nobody else's changes wait in a -wal file; else as SQLite reads any other.
std::string reading_uri(const std::string& path);
bool is_immutable(const std::string& uri);

}  // namespace heddle::storage
