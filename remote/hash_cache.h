// SHA-256 of this machine's files, remembered by (path, size, modification time), so that a second
// launch need not read half a gigabyte again.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"

namespace heddle::remote {

class HashCache {
 public:
  /// Default: hashes.json in $XDG_CACHE_HOME/heddle. A file that cannot be read is an empty cache.
  explicit HashCache(std::string file = {});
  /// `on_bytes`: see sha256_of_file; not called for a hash that is known.
  Result<std::string> sha256_of(const std::string& path,
                                const std::function<bool(uint64_t)>& on_bytes = {});
  /// Its hash, if the file was hashed and has not changed since. Reads nothing of it.
  std::optional<std::string> known(const std::string& path) const;
  /// Writes what was added. A cache that cannot be written costs time, nothing else.
  void save() const;

 private:
  struct Known {
    uint64_t size = 0;
    int64_t modified = 0;  // nanoseconds
    std::string sha256;
  };
  static Result<Known> look_at(const std::string& path);  // without its hash
  std::string file_;
  std::map<std::string, Known> known_;
  bool changed_ = false;
};

}  // namespace heddle::remote
