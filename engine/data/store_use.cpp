#include "engine/data/store_use.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace heddle::data {
namespace {

constexpr auto kRemoval = std::chrono::seconds(1);  // a folder gets another name

void mark_now(const std::string& path) { utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

}  // namespace

StoreUse::StoreUse(const std::string& folder) : path_(used_path(folder)) {
  auto lock = FileLock::share(path_, kRemoval);
  if (!lock || lock->state() != FileLock::State::held) return;
  lock_ = std::move(*lock);
  mark_now(path_);
}

StoreUse::~StoreUse() {
  if (lock_) mark_now(path_);
}

std::string used_path(const std::string& folder) { return folder + "/used"; }

}  // namespace heddle::data
