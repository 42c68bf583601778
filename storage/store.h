// The store's file: where it is, how it is created, migrated and refused.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle::storage {

inline constexpr int kSchemaVersion = 6;
inline constexpr int kApplicationId = 0x4845444c;  // "HEDL"

/// $XDG_DATA_HOME/heddle/heddle.sqlite.
std::string default_path();

/// Fails on a path with line ends or other control characters: lists and messages have a line a
/// store.
Result<> check_path(const std::string& path);

/// Makes the store ready: creates file and folders, migrates an older schema after a backup
/// (`FILE.v<N>.backup`). Fails, without touching the file, on a newer schema, on a file that is no
/// store of ours, on one that somebody else made (see trust.h) or that cannot be written to (see
/// reading.h), and on a network file system. Safe to call from several processes at once.
Result<> prepare(const std::string& path);

/// The same for one who only reads: a store that somebody else made, or that cannot be written to,
/// is left as it is, and has to have the newest schema.
Result<> prepare_to_read(const std::string& path);

/// Makes a store that nobody has open one file, as small as it can be: to be sent to somebody.
Result<> make_one_file(const std::string& path);

/// Fails where SQLite would wait for ever: where the store, or a file that SQLite keeps next to it,
/// is a pipe or no file at all; and where check_path does.
Result<> check_files(const std::string& path);

/// Whether a statfs `f_type` is a network file system, where WAL does not work.
bool is_network_filesystem(long f_type);

}  // namespace heddle::storage
