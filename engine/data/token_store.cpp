#include "engine/data/token_store.h"

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file_lock.h"
#include "base/json_text.h"
#include "base/plain_file.h"
#include "base/private_folder.h"
#include "base/read_file.h"
#include "base/read_json.h"
#include "engine/data/stored_ids.h"

namespace heddle::data {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr int kVersion = 2;
constexpr int64_t kFirstShards = 16, kFirstTokens = int64_t{1} << 22,
                  kLaterTokens = int64_t{1} << 26;
constexpr uint64_t kHashed = 1 << 16;  // bytes that also identify a text
constexpr size_t kMaxTokenizer = size_t{1} << 30;
constexpr size_t kMaxTotals = 1 << 16, kMaxFailure = size_t{1} << 20;
constexpr auto kLook = std::chrono::milliseconds(20);
// How long nobody may build it: one that waits for its turn takes it at once, one that is being
// started on a busy host takes longer.
constexpr auto kAfterFailure = std::chrono::seconds(3), kWithoutBuilder = std::chrono::seconds(15);

std::string hex(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Result<std::string> hash_of(const std::string& path, size_t most) {
  const auto bytes = read_file(path, most);
  if (!bytes) return fail(bytes);
  return hex(XXH3_128bits(bytes->data(), bytes->size()));
}

Result<PlainFile> open_own(const std::string& path) {
  return PlainFile::open_existing(path, PlainFile::Links::refuse, PlainFile::Owner::own);
}

}  // namespace

Result<std::string> default_cache() {
  const char* cache = getenv("XDG_CACHE_HOME");
  const char* home = getenv("HOME");
  if (cache && *cache) return std::string(cache) + "/heddle/tokens";
  if (home && *home) return std::string(home) + "/.cache/heddle/tokens";
  return fail("data.cache: neither XDG_CACHE_HOME nor HOME is set; valid: a folder for tokens");
}

Result<StoreOrigin> store_origin(const recipe::Data& data, Part part) {
  if (data.tokenizer.empty())
    return fail("data.tokenizer: data.text needs one; valid: a Hugging Face tokenizer.json");
  StoreOrigin origin;
  auto sources = find_sources(data.text);
  if (!sources) return fail("data.text: {}", sources.error().message);
  origin.files = std::move(sources->files);
  origin.skipped = std::move(sources->skipped);
  origin.tokenizer = tokenizer_of(data);
  origin.choice = {data.field, data.held_out, part, data.max_documents};
  origin.cache = data.cache;
  if (origin.cache.empty()) {
    auto folder = default_cache();
    if (!folder) return fail(folder);
    origin.cache = std::move(*folder);
  }
  const auto tokenizer = hash_of(data.tokenizer, kMaxTokenizer);
  if (!tokenizer) return fail("data.tokenizer: {}", tokenizer.error().message);
  nlohmann::ordered_json record = {{"version", kVersion},
                                   {"tokenizer", *tokenizer},
                                   {"documents", record_of(origin.tokenizer)},
                                   {"field", data.field}};
  if (data.held_out > 0) {
    record["held_out"] = data.held_out;
    record["part"] = part == Part::training ? "training" : "held out";
  }
  if (data.max_documents > 0) record["max_documents"] = data.max_documents;
  for (const SourceFile& file : origin.files) {
    nlohmann::ordered_json& text = record["text"].emplace_back(nlohmann::ordered_json{
        {"path", file.path}, {"bytes", file.size}, {"changed", file.changed}});
    if (file.size > kHashed) continue;
    const auto hash = hash_of(file.path, kHashed);
    if (!hash) return fail("data.text: {}", hash.error().message);
    text["hash"] = *hash;
  }
  origin.record = json_text(record);
  origin.id = hex(XXH3_128bits(origin.record.data(), origin.record.size()));
  return origin;
}

int64_t tokens_of_shard(int64_t shard) {
  return shard < kFirstShards ? kFirstTokens : kLaterTokens;
}

int64_t shard_of(int64_t token) {
  const int64_t first = kFirstShards * kFirstTokens;
  return token < first ? token / kFirstTokens : kFirstShards + (token - first) / kLaterTokens;
}

int64_t first_of_shard(int64_t shard) {
  return std::min(shard, kFirstShards) * kFirstTokens +
         std::max<int64_t>(0, shard - kFirstShards) * kLaterTokens;
}

std::string shard_path(const std::string& folder, int64_t shard) {
  return fmt::format("{}/{:06}.tokens", folder, shard);
}
std::string whole_path(const std::string& folder) { return folder + "/whole.json"; }
std::string lock_path(const std::string& folder) { return folder + "/lock"; }
std::string sources_path(const std::string& folder) { return folder + "/sources.json"; }
std::string failure_path(const std::string& folder) { return folder + "/failure"; }

Result<ShardHeader> read_shard_header(const std::string& path) {
  const auto file = open_own(path);
  if (!file) return fail(file);
  ShardHeader header;
  if (auto read = file->read_at(&header, sizeof(header), 0); !read) return fail(read);
  const bool known =
      header.magic == ShardHeader{}.magic && (header.token_bytes == 2 || header.token_bytes == 4);
  if (!known || header.tokens > static_cast<uint64_t>(kLaterTokens) ||
      header.file_bytes() != file->size())
    return fail("{}: is no shard of tokens", path);
  return header;
}

Result<> check_cache(const std::string& cache) {
  const auto safe = check_private_folder(cache);
  return safe ? safe : fail("data.cache: {}", safe.error().message);
}

Result<> check_store(const std::string& folder) {
  if (auto safe = check_cache(std::filesystem::path(folder).parent_path()); !safe) return safe;
  return check_cache(folder);
}

Result<std::optional<StoreTotals>> read_totals(const std::string& folder) {
  if (auto safe = check_store(folder); !safe) return fail(safe);
  const std::string path = whole_path(folder);
  const auto text =
      read_file_if_there(path, kMaxTotals, PlainFile::Links::refuse, PlainFile::Owner::own);
  if (!text) return fail(text);
  if (!*text) return std::nullopt;
  const auto json = read_json(**text);
  if (!json) return fail("{}: {}", path, json.error().message);
  if (!json->is_object()) return fail("{}: is no object of JSON", path);
  const auto number = [&](const char* name) { return json->value(name, int64_t{-1}); };
  const StoreTotals totals{number("tokens"), number("documents"), number("skipped"),
                           number("bytes")};
  if (totals.tokens < 0 || totals.documents < 0)
    return fail("{}: says no totals; valid: remove {}, it is made again", path, folder);
  return totals;
}

Result<> TokenStore::look() {
  const std::string folder = origin_.folder();
  if (!use_) use_ = StoreUse(folder);
  auto totals = read_totals(folder);
  if (!totals) return fail(totals);
  totals_ = *totals;
  if (totals_) {
    tokens_ = totals_->tokens;
    return {};
  }
  for (; access(shard_path(folder, shards_).c_str(), F_OK) == 0; ++shards_) {
    const auto header = read_shard_header(shard_path(folder, shards_));
    if (!header) return fail(header);
    // The last one of a store that is about to be whole.
    if (static_cast<int64_t>(header->tokens) != tokens_of_shard(shards_)) break;
    tokens_ = first_of_shard(shards_ + 1);
  }
  return {};
}

Result<int64_t> TokenStore::await(int64_t tokens) {
  const std::scoped_lock one(mutex_);
  const std::string folder = origin_.folder();
  auto last_held = std::chrono::steady_clock::now();  // by a builder
  while (true) {
    if (totals_ || tokens_ >= tokens) return tokens_;
    if (auto looked = look(); !looked) return fail(looked);
    if (totals_ || tokens_ >= tokens) return tokens_;
    const auto held = FileLock::is_held(lock_path(folder));
    if (!held) return fail(held);
    const auto now = std::chrono::steady_clock::now();
    if (*held) last_held = now;
    if (now - last_held > kAfterFailure)
      if (const auto why = read_file_if_there(failure_path(folder), kMaxFailure,
                                              PlainFile::Links::refuse, PlainFile::Owner::own);
          why && *why)
        return fail("{}", **why);
    if (now - last_held > kWithoutBuilder)
      return fail(
          "the tokens in {} are not all there, and nobody makes them; valid: heddle-engine "
          "tokenize-corpus RECIPE makes them",
          folder);
    std::this_thread::sleep_for(kLook);
  }
}

std::optional<StoreTotals> TokenStore::totals() const {
  const std::scoped_lock one(mutex_);
  return totals_;
}

Result<> TokenStore::read(int64_t at, std::span<int64_t> ids, std::span<uint8_t> begins) const {
  while (!ids.empty()) {
    const int64_t shard = shard_of(at);
    const std::string path = shard_path(origin_.folder(), shard);
    const auto file = open_own(path);
    if (!file) return fail(file);
    ShardHeader header;
    if (auto read = file->read_at(&header, sizeof(header), 0); !read) return read;
    const auto within = static_cast<uint64_t>(at - first_of_shard(shard));
    if (within >= header.tokens) return fail("{}: has no token {}", path, within);
    const size_t count = std::min<size_t>(ids.size(), header.tokens - within);
    const uint64_t place = sizeof(header) + within * header.token_bytes;
    const IdType type = header.token_bytes == 2 ? IdType::u16 : IdType::u32;
    if (auto read = read_ids(*file, type, place, ids.first(count)); !read) return read;
    std::vector<uint8_t> bits((within + count + 7) / 8 - within / 8);
    if (auto done = file->read_at(bits.data(), bits.size(), header.boundaries_at() + within / 8);
        !done)
      return done;
    for (size_t i = 0; i < count; ++i)
      begins[i] = bits[(within % 8 + i) / 8] >> ((within + i) % 8) & 1;
    ids = ids.subspan(count);
    begins = begins.subspan(count);
    at += static_cast<int64_t>(count);
  }
  return {};
}

}  // namespace heddle::data
