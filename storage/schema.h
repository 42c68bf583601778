// The store's tables as a list of migrations, and how a file is brought to the newest.
#pragma once

#include <span>
#include <string>

#include "base/result.h"

namespace heddle::storage {

/// Migration i (SQL) takes a store from schema i to i + 1; an empty file has schema 0.
std::span<const char* const> migrations();

/// Fails where the file is no store of ours that can be read, whatever its schema.
Result<> check_readable(const std::string& path);

/// Whether the store, of which nothing is written, has the newest schema.
Result<> check_newest(const std::string& path);

/// Creates or migrates the file at `path`; see `prepare`. Tests pass other lists of migrations.
Result<> migrate(const std::string& path, std::span<const char* const> migrations);

}  // namespace heddle::storage
