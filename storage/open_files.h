// The files of the stores that this process has open. The kernel drops all POSIX locks that a
// process has on a file, SQLite's too, as soon as the process closes any descriptor of that file;
// another process then takes itself for the store's last user and removes its -wal file with all
// that is still to be written. So nothing but SQLite may open them, not even to read.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>

#include "base/result.h"

namespace heddle::storage {

/// Fails where `path` names a file of an open store, by whatever name: to be asked before a file is
/// opened whose name came from a person. Any thread.
Result<> may_open(const std::string& path);

/// One connection's files, from before it is opened until after it is closed.
class OpenFiles {
 public:
  explicit OpenFiles(const std::string& store_path);
  ~OpenFiles();
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  /// SQLite has them open now: remembers which they are.
  void remember();
  /// Fails if somebody has removed or replaced them since: writes would reach nobody.
  Result<> still_there() const;

 private:
  struct Id {
    dev_t device;
    ino_t inode;
    friend bool operator==(const Id&, const Id&) = default;
  };
  using Ids = std::array<std::optional<Id>, 3>;  // the store, its -wal, its -shm
  static std::optional<Id> id_of(const std::string& path);
  static Ids ids_of(const std::string& store_path);
  friend Result<> may_open(const std::string& path);

  std::string path_;
  Ids opened_;
};

}  // namespace heddle::storage
