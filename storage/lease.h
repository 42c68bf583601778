// The ingest lease: at most one process at a time ingests into a store.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle::storage {

/// Held from acquire to destruction (or the process's death): a flock on `STORE.lease`.
class Lease {
 public:
  /// Fails at once, naming the holder's pid, when another process (or another Lease) holds it.
  static Result<Lease> acquire(const std::string& store_path);

  /// Whether anyone holds it now. Takes nothing from an `acquire` at the same time.
  static Result<bool> is_held(const std::string& store_path);

  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

 private:
  explicit Lease(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace heddle::storage
