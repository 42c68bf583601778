#include "engine/train/checkpoint_place.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <limits>

#include "base/durable_file.h"
#include "base/file_lock.h"
#include "engine/checkpoint/step_folders.h"
#include "engine/runtime/agreement.h"

namespace heddle::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHere = ".rank-";

/// The same error on all ranks, if any has one.
Result<> agree(const Result<>& mine, int64_t ranks) {
  for (const std::string& error : runtime::gather_texts(mine ? "" : mine.error().message, ranks))
    if (!error.empty()) return fail("checkpoint.folder: {}", error);
  return {};
}

Result<> make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail("{}: cannot be created: {}", folder, error.message());
  return {};
}

/// The smallest of the ranks whose files are in the folder.
int32_t first_here(const std::string& folder) {
  int32_t first = std::numeric_limits<int32_t>::max();
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    const std::string name = entry.path().filename();
    int32_t rank = 0;
    if (name.starts_with(kHere) &&
        std::from_chars(name.data() + kHere.size(), name.data() + name.size(), rank).ec ==
            std::errc())
      first = std::min(first, rank);
  }
  return first;
}

/// Leftovers of a start that was killed.
void remove_marks(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(kHere)) fs::remove(entry.path(), ignored);
}

/// Each host's first rank leaves a file; who sees no smaller one is the keeper.
Result<bool> find_keeper(const std::string& folder, const runs::RankContext& context) {
  const int64_t ranks = context.launch.world_size;
  if (context.launch.local_ranks == ranks) return context.rank == 0;
  const std::string mine = fmt::format("{}/{}{}", folder, kHere, context.rank);
  const bool speaks = context.local_rank == 0;
  if (speaks) remove_marks(folder);
  if (auto cleared = agree({}, ranks); !cleared) return fail(cleared);
  const Result<> left = speaks ? write_atomically(mine, "", kReadable) : Result<>();
  if (auto all = agree(left, ranks); !all) return fail(all);
  const bool is_keeper = speaks && first_here(folder) == context.rank;
  auto all = agree({}, ranks);
  if (speaks) ::unlink(mine.c_str());
  if (!all) return fail(all);
  return is_keeper;
}

/// File systems that have no locks are left to their users.
Result<FileLock> lock_of(const std::string& folder) {
  Result<FileLock> lock = FileLock::take(checkpoint::lock_file(folder));
  if (lock && lock->state() == FileLock::State::of_another)
    return fail("{}: another run saves its checkpoints in it; valid: a folder of this run's own",
                folder);
  return lock;
}

}  // namespace

Result<CheckpointPlace> meet_at(const std::string& folder, const runs::RankContext& context) {
  const int64_t ranks = context.launch.world_size;
  if (auto made = agree(make_folder(folder), ranks); !made) return fail(made);
  const auto is_keeper = find_keeper(folder, context);
  if (!is_keeper) return fail(is_keeper);
  CheckpointPlace place{folder, *is_keeper, nullptr};
  Result<> ready;
  if (place.is_keeper) {
    auto lock = lock_of(folder);
    ready = lock ? checkpoint::remove_partials(folder) : Result<>(fail(lock));
    if (lock) place.lock = std::make_shared<FileLock>(std::move(*lock));
  }
  if (auto all = agree(ready, ranks); !all) return fail(all);
  return place;
}

}  // namespace heddle::train
