#include "engine/data/store_builder.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/excerpt.h"
#include "base/file_lock.h"
#include "base/json_text.h"
#include "base/new_file.h"
#include "base/private_folder.h"
#include "base/read_file.h"
#include "engine/data/chunk_tokens.h"
#include "engine/data/in_order.h"
#include "engine/data/shard_writer.h"
#include "engine/data/text_encoding.h"

namespace heddle::data {
namespace {

namespace fs = std::filesystem;

constexpr int kWide = 1 << 16;            // a vocabulary of more does not fit 16 bits
constexpr size_t kShownComplaints = 10;   // where the run ends for them
constexpr size_t kKeptComplaints = 1000;  // in the store
constexpr double kProgressSeconds = 1;
// A text that has just begun is too short to judge which share of it is unreadable.
constexpr int64_t kMinDocuments = 10'000;

class Builder {
 public:
  Builder(const StoreOrigin& origin, const BuildOptions& options)
      : origin_(origin), options_(options), folder_(origin.folder()) {
    for (const SourceFile& file : origin_.files) all_bytes_ += file.size;
  }

  Result<> build() {
    if (auto written = write_store_file(sources_path(folder_), origin_.record, false); !written)
      return written;
    if (auto found = find_shards(); !found) return found;
    if (shards_ >= options_.shards) return {};
    if (shards_ == 0)
      if (auto readable = check_encodings(origin_.files); !readable) return readable;
    auto tokenizer = load_tokenizer(origin_.tokenizer);
    if (!tokenizer) return fail(tokenizer);
    token_bytes_ = tokenizer->vocab_size() > kWide ? 4 : 2;

    ChunkReader reader(origin_.files, origin_.choice.field, [&](std::string_view text, size_t at) {
      return parts_at(text, at, *tokenizer);
    });
    if (auto there = reader.go_to(state_.place); !there) return there;
    const int jobs =
        options_.jobs > 0 ? options_.jobs : std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::optional<Tokenizer>> tokenizers(static_cast<size_t>(jobs));
    const auto work = [&](int worker, Chunk chunk) -> Result<ChunkTokens> {
      std::optional<Tokenizer>& own = tokenizers[static_cast<size_t>(worker)];
      if (!own) {
        auto loaded = load_tokenizer(origin_.tokenizer);
        if (!loaded) return fail(loaded);
        own = std::move(*loaded);
      }
      return tokens_of(chunk, origin_.choice, *own);
    };
    const auto taken = in_order<Chunk, ChunkTokens>(
        jobs, [&] { return reader.next(); }, [](const Chunk& chunk) { return chunk.bytes.size(); },
        work, [&](ChunkTokens tokens) { return take(std::move(tokens)); });
    if (!taken) return taken;
    return enough_ ? Result<>() : finish();
  }

 private:
  /// The shard that a killed builder was writing; only one writes at a time.
  /// The shards that exist, and where they go on.
  Result<> find_shards() {
    while (fs::exists(shard_path(folder_, shards_))) {
      const auto header = read_shard_header(shard_path(folder_, shards_));
      if (!header) return fail(header);
      if (static_cast<int64_t>(header->tokens) != tokens_of_shard(shards_)) break;
      state_ = *header;
      ++shards_;
    }
    if (shards_ == 0) return {};
    if (auto sound = verify_shard(shard_path(folder_, shards_ - 1)); !sound) return sound;
    already_taken_ = state_.taken;
    tokens_ = first_of_shard(shards_);
    begun_at_ = state_.bytes;
    begun_share_ = share();
    const std::string kept = read_file(folder_ + "/skipped.txt", size_t{1} << 26).value_or("");
    for (size_t at = 0; at < kept.size() && complaints_.size() < state_.skipped;) {
      const size_t end = std::min(kept.find('\n', at), kept.size());
      complaints_.push_back(kept.substr(at, end - at));
      at = end + 1;
    }
    return {};
  }

  Result<bool> take(ChunkTokens chunk) {
    state_.place = chunk.place;
    const bool last = keep_first(chunk);
    std::span<const int32_t> ids(chunk.ids);
    // The part of the last chunk that earlier builders' shards hold.
    const uint64_t there = std::min<uint64_t>(std::exchange(already_taken_, 0), ids.size());
    state_.taken = there;
    auto begin = std::ranges::lower_bound(chunk.begins, there);
    ids = ids.subspan(there);
    while (!ids.empty()) {
      if (!shard_) {
        auto created = ShardWriter::create(folder_, shards_, token_bytes_);
        if (!created) return fail(created);
        shard_ = std::move(*created);
      }
      const auto count = std::min<uint64_t>(ids.size(), static_cast<uint64_t>(shard_->room()));
      for (; begin != chunk.begins.end() && *begin < state_.taken + count; ++begin)
        shard_->begin_document(shard_->tokens() + *begin - state_.taken);
      if (auto done = shard_->append(ids.first(count)); !done) return fail(done);
      ids = ids.subspan(count);
      state_.taken += count;
      tokens_ += static_cast<int64_t>(count);
      if (shard_->room() > 0) continue;
      if (auto done = finish_shard(); !done) return fail(done);
      if (shards_ >= options_.shards) return !(enough_ = true);
    }
    state_.documents += static_cast<uint64_t>(chunk.documents);
    state_.bytes += static_cast<uint64_t>(chunk.bytes);
    if (auto judged = judge(chunk.complaints); !judged) return fail(judged);
    tell();
    return !last;
  }

  /// Leaves of a chunk what data.max_documents asks for; true: no more is.
  bool keep_first(ChunkTokens& chunk) const {
    const int64_t most = origin_.choice.most, before = static_cast<int64_t>(state_.documents);
    if (most == 0 || before + chunk.documents < most) return false;
    chunk.documents = std::min(chunk.documents, most - before);
    const auto begun = static_cast<size_t>(chunk.documents);
    // With all of them here, the last one may still go on in the next chunk.
    if (begun >= chunk.begins.size()) return !chunk.goes_on;
    chunk.ids.resize(chunk.begins[begun]);
    chunk.begins.resize(begun);
    return true;
  }

  Result<> finish_shard() {
    if (auto finished = shard_->finish(state_); !finished) return finished;
    shard_.reset();
    ++shards_;
    return keep_complaints();
  }

  Result<> keep_complaints() {
    if (kept_complaints_ == complaints_.size()) return {};
    kept_complaints_ = complaints_.size();
    std::string lines;
    for (const std::string& complaint : complaints_) lines += complaint + "\n";
    return write_store_file(folder_ + "/skipped.txt", lines, false);
  }

  /// Whether so many documents may be left out.
  Result<> judge(const std::vector<std::string>& complaints) {
    state_.skipped += complaints.size();
    for (const std::string& complaint : complaints)
      if (complaints_.size() < kKeptComplaints) complaints_.push_back(complaint);
    return within_limit(kMinDocuments);
  }

  Result<> within_limit(int64_t least_documents) const {
    const auto all = static_cast<int64_t>(state_.documents + state_.skipped);
    const double most = options_.skip_limit * static_cast<double>(std::max(all, least_documents));
    if (static_cast<double>(state_.skipped) <= most) return {};
    std::string lines;
    for (size_t i = 0; i < std::min(kShownComplaints, complaints_.size()); ++i)
      lines += (i == 0 ? "" : "\n") + complaints_[i];
    if (state_.skipped == 1) return fail("data.text: {}", lines);
    return fail(
        "data.text: {} of {} documents cannot be read, more than data.skip_limit {} allows; the "
        "first:\n{}",
        state_.skipped, all, options_.skip_limit, lines);
  }

  Result<> finish() {
    if (auto judged = within_limit(0); !judged) return judged;
    if (shard_)
      if (auto finished = finish_shard(); !finished) return finished;
    if (auto kept = keep_complaints(); !kept) return kept;
    const nlohmann::ordered_json whole = {{"tokens", tokens_},
                                          {"documents", state_.documents},
                                          {"skipped", state_.skipped},
                                          {"bytes", state_.bytes},
                                          {"shards", shards_}};
    return write_store_file(whole_path(folder_), json_text(whole) + "\n", true);
  }

  void tell() {
    const double seconds = seconds_since(begun_);
    if (seconds - told_ < kProgressSeconds) return;
    told_ = seconds;
    StoreProgress progress{tokens_,
                           static_cast<int64_t>(state_.documents),
                           static_cast<int64_t>(state_.skipped),
                           static_cast<int64_t>(state_.bytes),
                           share(),
                           static_cast<double>(state_.bytes - begun_at_) / seconds,
                           0};
    if (const double gained = progress.share - begun_share_; gained > 0)
      progress.seconds_left = (1 - progress.share) * seconds / gained;
    if (options_.progress) options_.progress(progress);
    keep_progress(folder_, progress);
  }

  /// The share of the files' bytes, as far as it is known: within a packed file it is not.
  double share() const {
    uint64_t before = 0;
    for (uint64_t i = 0; i < state_.place.file; ++i) before += origin_.files[i].size;
    if (state_.place.file < origin_.files.size())
      before += std::min(state_.place.offset, origin_.files[state_.place.file].size);
    return all_bytes_ == 0 ? 1 : static_cast<double>(before) / static_cast<double>(all_bytes_);
  }

  const StoreOrigin& origin_;
  const BuildOptions& options_;
  const std::string folder_;
  const Clock::time_point begun_ = Clock::now();
  uint64_t all_bytes_ = 0;
  uint64_t token_bytes_ = 2;
  int64_t shards_ = 0, tokens_ = 0;
  ShardHeader state_;  // what the next shard's will say
  uint64_t already_taken_ = 0, begun_at_ = 0;
  std::optional<ShardWriter> shard_;
  std::vector<std::string> complaints_;
  size_t kept_complaints_ = 0;
  bool enough_ = false;
  double told_ = 0, begun_share_ = 0;
};

/// Files left by builders that died.
void remove_parts(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".part") fs::remove(entry.path(), ignored);
}

/// The file that says why a store cannot be built, which the ranks wait for. Its room is taken
/// beforehand: the reason may be that there is none.
class Failure {
 public:
  static Result<Failure> reserve(const std::string& folder) {
    auto file = NewFile::create(failure_path(folder));
    if (!file) return fail(file);
    if (const int error = posix_fallocate(file->fd(), 0, kRoom); error != 0)
      return fail("{}: there is no room for it: {}", failure_path(folder), strerror(error));
    return Failure(std::move(*file));
  }
  void write(const std::string& reason) {
    const std::string text = excerpt(reason, kRoom / 2);
    if (file_.write(text) && ftruncate(file_.fd(), static_cast<off_t>(text.size())) == 0)
      (void)file_.take_place();
  }

 private:
  static constexpr size_t kRoom = 4096;
  explicit Failure(NewFile file) : file_(std::move(file)) {}
  NewFile file_;
};

/// Nothing: somebody else has made enough of it meanwhile.
Result<std::optional<FileLock>> take_turn(const StoreOrigin& origin, int64_t shards) {
  const std::string folder = origin.folder();
  while (true) {
    auto lock = FileLock::take(lock_path(folder));
    if (!lock) return fail(lock);
    if (lock->state() == FileLock::State::impossible)
      return fail("data.cache: {}: its file system has no locks; valid: a folder on another one",
                  folder);
    const auto totals = read_totals(folder);
    if (!totals) return fail(totals);
    if (*totals) return std::nullopt;
    if (lock->state() == FileLock::State::held) return std::optional(std::move(*lock));
    if (shards <= 1'000'000 && fs::exists(shard_path(folder, shards - 1))) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

Result<> build_store(const StoreOrigin& origin, const BuildOptions& options) {
  const std::string folder = origin.folder();
  if (auto made = make_private_folders(folder); !made)
    return fail("data.cache: {}", made.error().message);
  if (auto safe = check_store(folder); !safe) return safe;
  const StoreUse use(folder);
  const auto turn = take_turn(origin, options.shards);
  if (!turn) return fail(turn);
  if (!*turn) return {};
  unlink(failure_path(folder).c_str());
  remove_parts(folder);
  auto failure = Failure::reserve(folder);
  auto built = failure ? Builder(origin, options).build() : fail(failure);
  if (!built && !built.error().message.starts_with("data."))
    built = fail("data.text: {}", built.error().message);
  if (!built && failure) failure->write(built.error().message);
  forget_progress(folder);
  return built;
}

}  // namespace heddle::data
