#include "engine/runs/last_word.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::runs {
namespace {

constexpr std::array<std::string_view, 3> kStates = {"working", "done", "stopped"};

// State and step are at the start, then the mark of a lasting failure, the cause's length, the
// cause.
constexpr off_t kLasting = 56, kLength = 64, kCause = 72;
constexpr char kMark = '!';
constexpr size_t kMaxReadCause = size_t{16} * 1024;
static_assert(kCause + kMaxReadCause <= kFlightAt);

std::string cause_in(int fd) {
  char text[kCause - kLength] = {};
  unsigned bytes = 0;
  if (pread(fd, text, sizeof(text) - 1, kLength) <= 0 || sscanf(text, "%u", &bytes) != 1) return {};
  std::string cause(std::min<size_t>(bytes, kMaxReadCause), '\0');
  const ssize_t count = pread(fd, cause.data(), cause.size(), kCause);
  cause.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return cause;
}

}  // namespace

Result<LastWord> LastWord::make() {
  const int fd = memfd_create("last word", MFD_CLOEXEC);
  if (fd < 0) return fail("memory that is shared with a rank: {}", strerror(errno));
  LastWord word(fd);
  // Memory that is there already cannot be short when the rank fails.
  if (const int error = posix_fallocate(fd, 0, kFlightAt + kFlightRoom); error != 0)
    return fail("memory that is shared with a rank: {}", strerror(error));
  return word;
}

LastWord::LastWord(LastWord&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

LastWord& LastWord::operator=(LastWord&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

LastWord::~LastWord() {
  if (fd_ >= 0) close(fd_);
}

Word LastWord::heard() const {
  char text[kLasting] = {}, state[16] = {}, mark = 0;
  long long step = 0;
  Word word{.cause = cause_in(fd_)};
  word.lasting = pread(fd_, &mark, 1, kLasting) == 1 && mark == kMark;
  if (pread(fd_, text, sizeof(text) - 1, 0) <= 0) return word;
  if (sscanf(text, "%15s %lld", state, &step) != 2) return word;
  const auto known = std::ranges::find(kStates, state);
  if (known == kStates.end()) return word;
  word.state = static_cast<Word::State>(known - kStates.begin());
  word.step = step;
  return word;
}

void give_word(int fd, const Word& word) {
  if (fd < 0) return;
  // As long as any other, so that nothing is left of the one before.
  const std::string text =
      fmt::format("{:<7} {:>20}\n", kStates[static_cast<size_t>(word.state)], word.step);
  [[maybe_unused]] const ssize_t said = pwrite(fd, text.data(), text.size(), 0);
}

void give_lasting(int fd) {
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t said = pwrite(fd, &kMark, 1, kLasting);
}

void give_cause(int fd, std::string_view cause) {
  if (fd < 0) return;
  if (cause.size() > kMaxReadCause) cause.remove_prefix(cause.size() - kMaxReadCause);
  const std::string text = fmt::format("{:<8}{}", cause.size(), cause);
  [[maybe_unused]] const ssize_t said = pwrite(fd, text.data(), text.size(), kLength);
}

}  // namespace heddle::runs
