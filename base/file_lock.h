// Locks among the processes of one user. Each is a file of its own that nobody else can open, so
// that no stranger can hold it.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace heddle {

/// Held from `take` to destruction, or the process's death. Movable; one thread.
class FileLock {
 public:
  enum class State {
    held,
    of_another,  // `holder` holds it
    impossible,  // the file system has no locks
  };

  /// Takes the lock that is the file `path`, which is made (0600) where it is missing and stays
  /// afterwards. Waits for another holder as long as that. Errors: it cannot be opened, it is a
  /// link or no regular file, it belongs to someone else; they begin with `path`.
  static Result<FileLock> take(const std::string& path, std::chrono::milliseconds patience = {});
  /// The same next to others that share it; nobody can `take` it meanwhile.
  static Result<FileLock> share(const std::string& path, std::chrono::milliseconds patience = {});
  /// Whether a process holds or shares it now. Of two that ask at once one may get yes.
  static Result<bool> is_shared(const std::string& path);
  /// Whether a process of this user holds it now. Takes nothing from a `take` that has 10 ms.
  static Result<bool> is_held(const std::string& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  State state() const { return state_; }
  /// "process 123": who has it, as far as is known.
  const std::string& holder() const { return holder_; }

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  static Result<FileLock> open_and_lock(const std::string& path, int kind,
                                        std::chrono::milliseconds patience);
  static Result<bool> is_refused(const std::string& path, int kind);

  int fd_ = -1;
  State state_ = State::held;
  std::string holder_;
};

}  // namespace heddle
