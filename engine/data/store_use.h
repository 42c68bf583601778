// Who uses a token store: what is used is not removed.
#pragma once

#include <optional>
#include <string>

#include "base/file_lock.h"

namespace heddle::data {

/// While one lives, in whichever process, its store is in use. Movable.
class StoreUse {
 public:
  StoreUse() = default;
  /// Uses no store where the folder is missing or cannot be locked. Waits while it is removed.
  explicit StoreUse(const std::string& folder);
  StoreUse(StoreUse&&) noexcept = default;
  StoreUse& operator=(StoreUse&&) noexcept = default;
  ~StoreUse();

  explicit operator bool() const { return lock_.has_value(); }

 private:
  std::string path_;
  std::optional<FileLock> lock_;
};

/// The file whose lock says so; it was last changed when a use began or ended.
std::string used_path(const std::string& folder);

}  // namespace heddle::data
