#include "storage/lease.h"

#include <utility>

namespace heddle::storage {
namespace {

/// A process that only looks (is_held) has it for microseconds.
constexpr std::chrono::milliseconds kLooks{10};

std::string file_of(const std::string& store_path) { return store_path + ".lease"; }

}  // namespace

Result<Lease> Lease::acquire(const std::string& store_path) {
  Result<FileLock> lock = FileLock::take(file_of(store_path), kLooks);
  if (!lock) return fail(lock);
  switch (lock->state()) {
    case FileLock::State::held:
      return Lease(std::move(*lock));
    case FileLock::State::of_another:
      return fail("{}: another Heddle ({}) follows the runs of this store", store_path,
                  lock->holder());
    case FileLock::State::impossible:
      break;
  }
  return fail("{}: cannot be locked: its file system has no locks", file_of(store_path));
}

Result<bool> Lease::is_held(const std::string& store_path) {
  return FileLock::is_held(file_of(store_path));
}

}  // namespace heddle::storage
