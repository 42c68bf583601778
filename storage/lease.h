// The ingest lease: at most one process at a time ingests into a store.
#pragma once

#include <string>

#include "base/file_lock.h"

namespace heddle::storage {

/// Held from acquire to destruction (or the process's death): the lock `STORE.lease`.
class Lease {
 public:
  /// Fails at once, naming the holder's pid, when another process (or another Lease) holds it.
  static Result<Lease> acquire(const std::string& store_path);

  /// Whether anyone holds it now. Takes nothing from an `acquire` at the same time.
  static Result<bool> is_held(const std::string& store_path);

 private:
  explicit Lease(FileLock lock) : lock_(std::move(lock)) {}
  FileLock lock_;
};

}  // namespace heddle::storage
