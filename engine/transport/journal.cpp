#include "engine/transport/journal.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace heddle::transport {
namespace {

// Ended ones that a report still lists.
constexpr uint64_t kEndedKept = 3;
// Collectives under way that are sent: enough to find where ranks part, few enough for a message.
constexpr size_t kSent = 64;

static_assert(std::is_trivially_copyable_v<Descriptor>);

}  // namespace

const Descriptor* Progress::stalled() const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Descriptor& entry) { return entry.sequence >= ended; });
  return found == entries.end() ? nullptr : &*found;
}

uint64_t Journal::post(Descriptor descriptor) {
  const std::lock_guard lock(mutex_);
  descriptor.sequence = posted_++;
  descriptor.ranges_address = 0;
  entries_.push_back(descriptor);
  while (entries_.front().sequence + kEndedKept < ended()) entries_.pop_front();
  return descriptor.sequence;
}

void Journal::begin_recording() {
  const std::lock_guard lock(mutex_);
  recorded_from_ = posted_;
}

void Journal::recorded() {
  const std::lock_guard lock(mutex_);
  ++recorded_;
}

void Journal::end_recording() {
  const std::lock_guard lock(mutex_);
  posted_ = recorded_from_;
  recorded_ = 0;
  while (!entries_.empty() && entries_.back().sequence >= posted_) entries_.pop_back();
}

Progress Journal::progress() const {
  const std::lock_guard lock(mutex_);
  Progress progress{ended(), {}};
  for (const Descriptor& entry : entries_) {
    if (entry.sequence + kEndedKept < progress.ended) continue;
    if (progress.entries.size() == kSent) break;
    progress.entries.push_back(entry);
  }
  return progress;
}

std::vector<uint8_t> to_bytes(const Progress& progress) {
  const size_t bytes = progress.entries.size() * sizeof(Descriptor);
  std::vector<uint8_t> result(sizeof(progress.ended) + bytes);
  std::memcpy(result.data(), &progress.ended, sizeof(progress.ended));
  if (bytes > 0)
    std::memcpy(result.data() + sizeof(progress.ended), progress.entries.data(), bytes);
  return result;
}

Progress progress_from(const std::vector<uint8_t>& bytes) {
  Progress progress;
  if (bytes.size() < sizeof(progress.ended)) return progress;
  const size_t rest = bytes.size() - sizeof(progress.ended);
  if (rest % sizeof(Descriptor) != 0) return progress;
  std::memcpy(&progress.ended, bytes.data(), sizeof(progress.ended));
  progress.entries.resize(rest / sizeof(Descriptor));
  if (rest > 0) std::memcpy(progress.entries.data(), bytes.data() + sizeof(progress.ended), rest);
  return progress;
}

}  // namespace heddle::transport
