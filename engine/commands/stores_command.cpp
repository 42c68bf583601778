// `heddle-engine stores`: the token stores of a cache, listed or cleaned.
#include <fmt/chrono.h>

#include <ctime>

#include "base/number_text.h"
#include "base/say.h"
#include "engine/commands/commands.h"
#include "engine/data/store_list.h"
#include "engine/data/token_store.h"

namespace heddle::commands {
namespace {

constexpr int64_t kDay = 86400;

/// Why nobody needs it; empty: somebody may.
std::string reason_to_remove(const data::StoredTokens& store, const StoresOptions& what) {
  if (what.clean && store.texts == data::TextsNow::changed) return "its texts have changed";
  if (what.clean && store.texts == data::TextsNow::gone) return "its texts are gone";
  const int64_t days = (std::time(nullptr) - store.used) / kDay;
  if (what.unused_days >= 0 && days >= what.unused_days)
    return fmt::format("unused for {} days", days);
  return {};
}

std::string words_of(const data::StoredTokens& store) {
  std::string words = store.in_use ? "in use" : store.whole ? "whole" : "in part";
  if (store.texts == data::TextsNow::changed) words += ", its texts have changed";
  if (store.texts == data::TextsNow::gone) words += ", its texts are gone";
  return words;
}

void print(const data::StoredTokens& store, std::string_view words) {
  const auto used = static_cast<std::time_t>(store.used);
  std::tm local{};
  localtime_r(&used, &local);
  say("{}  {:>10}  used {:%F %H:%M}  {}", store.id, bytes_text(static_cast<double>(store.bytes)),
      local, words);
  if (!store.paths.empty()) say("  {}", store.paths.front());
  if (store.paths.size() > 1) say(" and {} more", store.paths.size() - 1);
  say("\n");
}

int failed(const Error& error) {
  say(stderr, "{}\n", error.message);
  return 1;
}

}  // namespace

int stores(const StoresOptions& what) {
  auto cache = what.cache.empty() ? data::default_cache() : what.cache;
  if (!cache) return failed(cache.error());
  const auto all = data::stores_in(*cache);
  if (!all) return failed(all.error());
  const bool listing = !what.clean && what.unused_days < 0;
  uint64_t bytes = 0;
  for (const data::StoredTokens& store : *all) {
    std::string words = listing ? words_of(store) : reason_to_remove(store, what);
    if (words.empty()) continue;
    if (!listing) {
      const auto removed = data::remove_store(*cache, store.id);
      if (!removed) return failed(removed.error());
      words = *removed ? "removed: " + words : "stays, it is in use";
      if (!*removed) bytes -= store.bytes;
    }
    bytes += store.bytes;
    print(store, words);
  }
  say("{} {} {}\n", bytes_text(static_cast<double>(bytes)), listing ? "in" : "removed from",
      *cache);
  return 0;
}

}  // namespace heddle::commands
