// A file that is being written: until it is whole it has a name that nobody can guess.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle {

/// PATH.NAME.part, where NAME is a unique_name(); locked as long as it is written, so that a dead
/// process's leftovers differ from a file that another one is writing. Movable; one thread.
class NewFile {
 public:
  /// Makes it: a new file, this user's alone unless `mode` (less the umask) says otherwise. Removes
  /// what earlier writers of `path` have left. Errors begin with `path`.
  static Result<NewFile> create(const std::string& path, mode_t mode = 0600);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&& other) noexcept;
  /// Removes it, unless it has its place.
  ~NewFile();

  int fd() const { return fd_; }
  const std::string& part() const { return part_; }
  Result<> write(std::string_view bytes);
  /// Renames it to `path`, over what was there. Durable is what the caller makes durable.
  Result<> take_place();
  /// The caller has renamed it.
  void has_place() { part_.clear(); }

 private:
  NewFile(std::string path, std::string part, int fd)
      : path_(std::move(path)), part_(std::move(part)), fd_(fd) {}

  std::string path_, part_;
  int fd_;
};

/// Removes what writers of `path` that are no longer there have left.
void remove_leftovers(const std::string& path);

}  // namespace heddle
