#include "engine/transport/flight_recorder.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <type_traits>

#include "base/clock.h"

namespace heddle::transport {
namespace {

static_assert(std::is_trivially_copyable_v<FlightEntry>);

/// Cut where it does not fit; the last byte stays 0.
template <size_t N>
void copy(std::array<char, N>& to, const std::string& text) {
  to.fill('\0');
  std::copy_n(text.begin(), std::min(text.size(), N - 1), to.begin());
}

}  // namespace

Result<std::shared_ptr<FlightRecorder>> FlightRecorder::open(int fd, off_t offset) {
  void* memory = mmap(nullptr, kFlightBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  if (memory == MAP_FAILED) return fail("the record of collectives: {}", strerror(errno));
  return std::shared_ptr<FlightRecorder>(new FlightRecorder(static_cast<FlightEntry*>(memory)));
}

FlightRecorder::~FlightRecorder() { munmap(entries_, kFlightBytes); }

uint64_t FlightRecorder::post(const std::string& group, int32_t first_member, uint64_t sequence,
                              const std::string& what, uint64_t bytes) {
  const uint64_t number = ++posted_;
  FlightEntry made{.number = number,
                   .sequence = sequence,
                   .bytes = bytes,
                   .posted = unix_now(),
                   .first_member = first_member};
  copy(made.group, group);
  copy(made.what, what);
  entries_[number % kFlightEntries] = made;
  return number;
}

// Newer collectives may have taken its place.
FlightEntry* FlightRecorder::entry(uint64_t number) {
  FlightEntry* found = &entries_[number % kFlightEntries];
  return found->number == number ? found : nullptr;
}

void FlightRecorder::begin(uint64_t number) {
  if (FlightEntry* found = entry(number)) found->begun = unix_now();
}

void FlightRecorder::end(uint64_t number) {
  if (FlightEntry* found = entry(number)) found->ended = unix_now();
}

std::vector<FlightEntry> read_flight(int fd, off_t offset) {
  std::vector<FlightEntry> entries(kFlightEntries);
  const size_t bytes = entries.size() * sizeof(FlightEntry);
  if (pread(fd, entries.data(), bytes, offset) != static_cast<ssize_t>(bytes)) return {};
  std::erase_if(entries, [](const FlightEntry& entry) {
    return entry.number == 0 || entry.group.back() != '\0' || entry.what.back() != '\0';
  });
  std::ranges::sort(entries, {}, &FlightEntry::number);
  return entries;
}

}  // namespace heddle::transport
