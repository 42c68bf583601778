// How a store's file is brought to the newest schema.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "storage/migrations.h"

namespace heddle::storage {

/// Fails where the file is no store of ours that can be read, whatever its schema.
Result<> check_readable(const std::string& path);

/// Whether the store, of which nothing is written, has the newest schema.
Result<> check_newest(const std::string& path);

/// Creates or migrates the file at `path`; see `prepare`. Tests pass other lists of migrations.
Result<> migrate(const std::string& path, std::span<const Migration> migrations);

}  // namespace heddle::storage
