#include "storage/open_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace heddle::storage {
namespace {

std::mutex mutex;
std::vector<const OpenFiles*> all;

}  // namespace

std::optional<OpenFiles::Id> OpenFiles::id_of(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return std::nullopt;
  return Id{about.st_dev, about.st_ino};
}

OpenFiles::Ids OpenFiles::ids_of(const std::string& store_path) {
  return {id_of(store_path), id_of(store_path + "-wal"), id_of(store_path + "-shm")};
}

OpenFiles::OpenFiles(const std::string& store_path) : path_(store_path) {
  const std::lock_guard lock(mutex);
  all.push_back(this);
}

OpenFiles::~OpenFiles() {
  const std::lock_guard lock(mutex);
  std::erase(all, this);
}

void OpenFiles::remember() {
  const std::lock_guard lock(mutex);
  opened_ = ids_of(path_);
}

Result<> OpenFiles::still_there() const {
  const Ids now = ids_of(path_);
  for (size_t i = 0; i < now.size(); ++i) {
    if (!opened_[i] || opened_[i] == now[i]) continue;
    return fail(
        "{}: the store's files were {} while they were open here, so nothing can be kept any more: "
        "close Heddle, put the store back or choose another with --store, and start again",
        path_, now[i] ? "replaced" : "removed");
  }
  return {};
}

Result<> may_open(const std::string& path) {
  const auto id = OpenFiles::id_of(path);
  if (!id) return {};
  const std::lock_guard lock(mutex);
  for (const OpenFiles* files : all) {
    const OpenFiles::Ids now = OpenFiles::ids_of(files->path_);
    const OpenFiles::Ids& then = files->opened_;
    if (std::find(now.begin(), now.end(), id) != now.end() ||
        std::find(then.begin(), then.end(), id) != then.end())
      return fail("{} belongs to the open store {}: it cannot be read or written as a file", path,
                  files->path_);
  }
  return {};
}

}  // namespace heddle::storage
