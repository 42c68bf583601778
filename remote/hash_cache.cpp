#include "remote/hash_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "remote/sha256.h"

namespace heddle::remote {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string default_file() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return std::string(cache) + "/heddle/hashes.json";
  const char* home = std::getenv("HOME");
  return std::string(home && *home ? home : "/tmp") + "/.cache/heddle/hashes.json";
}

}  // namespace

HashCache::HashCache(std::string file) : file_(file.empty() ? default_file() : std::move(file)) {
  std::ifstream in(file_);
  const json all = json::parse(in, nullptr, false);
  if (!all.is_object()) return;
  for (const auto& [path, item] : all.items()) {
    if (!item.is_object()) continue;
    known_[path] = {item.value("size", uint64_t{0}), item.value("modified", int64_t{0}),
                    item.value("sha256", "")};
  }
}

Result<std::string> HashCache::sha256_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    return fail("cannot read {}: {}", path, std::strerror(errno));
  const auto size = static_cast<uint64_t>(status.st_size);
  const int64_t modified = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  const auto found = known_.find(path);
  if (found != known_.end() && found->second.size == size && found->second.modified == modified) {
    return found->second.sha256;
  }
  Result<std::string> hash = sha256_of_file(path);
  if (hash) {
    known_[path] = {size, modified, *hash};
    changed_ = true;
  }
  return hash;
}

void HashCache::save() const {
  if (!changed_) return;
  json all = json::object();
  for (const auto& [path, item] : known_) {
    all[path] = {{"size", item.size}, {"modified", item.modified}, {"sha256", item.sha256}};
  }
  std::error_code error;
  fs::create_directories(fs::path(file_).parent_path(), error);
  const std::string part = fmt::format("{}.{}.part", file_, getpid());
  std::ofstream(part) << all.dump(1);
  fs::rename(part, file_, error);
}

}  // namespace heddle::remote
