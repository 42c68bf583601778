#include "remote/hash_cache.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_number.h"
#include "base/json_text.h"
#include "base/new_file.h"
#include "base/private_folder.h"
#include "base/read_json.h"
#include "remote/sha256.h"

namespace heddle::remote {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string default_file() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return std::string(cache) + "/heddle/hashes.json";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/heddle/hashes.json" : std::string();
}

}  // namespace

HashCache::HashCache(std::string file) : file_(file.empty() ? default_file() : std::move(file)) {
  // A cache: a file without a readable entry is hashed again.
  const auto all = read_json_file(file_);
  if (!all || !all->is_object()) return;
  try {
    for (const auto& [path, item] : all->items())
      known_[path] = {whole<uint64_t>(item.at("size")), whole<int64_t>(item.at("modified")),
                      item.at("sha256")};
  } catch (const json::exception&) {
    known_.clear();
  }
}

Result<HashCache::Known> HashCache::look_at(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    return fail("cannot read {}: {}", path, std::strerror(errno));
  return Known{static_cast<uint64_t>(status.st_size),
               int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec, ""};
}

std::optional<std::string> HashCache::known(const std::string& path) const {
  const Result<Known> now = look_at(path);
  const auto found = known_.find(path);
  if (!now || found == known_.end() || found->second.size != now->size ||
      found->second.modified != now->modified)
    return std::nullopt;
  return found->second.sha256;
}

Result<std::string> HashCache::sha256_of(const std::string& path,
                                         const std::function<bool(uint64_t)>& on_bytes) {
  if (auto hash = known(path)) return std::move(*hash);
  // As it was before it was read: a file that changes meanwhile is hashed again the next time.
  Result<Known> file = look_at(path);
  if (!file) return fail(file);
  Result<std::string> hash = sha256_of_file(path, on_bytes);
  if (hash) {
    file->sha256 = *hash;
    known_[path] = std::move(*file);
    changed_ = true;
  }
  return hash;
}

void HashCache::save() const {
  if (!changed_ || file_.empty()) return;
  json all = json::object();
  for (const auto& [path, item] : known_) {
    all[path] = {{"size", item.size}, {"modified", item.modified}, {"sha256", item.sha256}};
  }
  (void)make_private_folders(fs::path(file_).parent_path());
  if (auto file = NewFile::create(file_); file && file->write(json_text(all, 1)))
    (void)file->take_place();
}

}  // namespace heddle::remote
