#include "engine/data/store_list.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file_lock.h"
#include "base/read_json.h"
#include "engine/data/source_files.h"
#include "engine/data/store_use.h"
#include "engine/data/token_store.h"

namespace heddle::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kIdLength = 32;
constexpr std::string_view kRemoved = ".removed";
constexpr uint64_t kDiskBlock = 512;  // what stat counts in

bool is_store_id(std::string_view name) {
  return name.size() == kIdLength &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

TextsNow now(const std::string& path, uint64_t bytes, int64_t changed) {
  const auto file = look_at(path);
  if (!file) return TextsNow::gone;
  return file->size == bytes && file->changed == changed ? TextsNow::as_they_were
                                                         : TextsNow::changed;
}

void read_texts(const std::string& folder, StoredTokens& store) {
  const auto record = read_json_file(sources_path(folder));
  if (!record || !record->is_object()) return;
  store.texts = TextsNow::as_they_were;
  for (const auto& text : record->value("text", nlohmann::json::array())) {
    if (!text.is_object()) continue;
    store.paths.push_back(text.value("path", ""));
    store.texts = std::max(store.texts, now(store.paths.back(), text.value("bytes", uint64_t{0}),
                                            text.value("changed", int64_t{0})));
  }
}

Result<StoredTokens> look(const fs::path& folder) {
  StoredTokens store;
  store.id = folder.filename();
  struct stat about {};
  if (stat(used_path(folder).c_str(), &about) == 0 || stat(folder.c_str(), &about) == 0)
    store.used = about.st_mtim.tv_sec;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(folder, gone))
    if (stat(entry.path().c_str(), &about) == 0)
      store.bytes += static_cast<uint64_t>(about.st_blocks) * kDiskBlock;
  const auto in_use = FileLock::is_shared(used_path(folder));
  if (!in_use) return fail(in_use);
  store.in_use = *in_use;
  store.whole = fs::exists(whole_path(folder));
  read_texts(folder, store);
  return store;
}

}  // namespace

Result<std::vector<StoredTokens>> stores_in(const std::string& cache) {
  std::vector<StoredTokens> stores;
  std::error_code error;
  if (!fs::exists(cache, error)) return stores;
  if (auto safe = check_cache(cache); !safe) return fail(safe);
  for (auto entry = fs::directory_iterator(cache, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!is_store_id(entry->path().filename().string())) continue;
    auto store = look(entry->path());
    if (!store) return fail(store);
    stores.push_back(std::move(*store));
  }
  if (error) return fail("{}: {}", cache, error.message());
  std::ranges::sort(stores, std::greater(), &StoredTokens::used);
  return stores;
}

Result<bool> remove_store(const std::string& cache, const std::string& id) {
  const std::string folder = cache + "/" + id, removed = folder + std::string(kRemoved);
  std::error_code error;
  fs::remove_all(removed, error);  // which somebody has not finished
  {
    const auto lock = FileLock::take(used_path(folder));
    if (!lock) return fail(lock);
    if (lock->state() != FileLock::State::held) return false;
    // At once, so that the next user makes a new store.
    fs::rename(folder, removed, error);
  }
  if (!error) fs::remove_all(removed, error);
  if (error) return fail("{}: cannot be removed: {}", folder, error.message());
  return true;
}

}  // namespace heddle::data
