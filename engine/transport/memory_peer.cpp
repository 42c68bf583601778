#include "engine/transport/memory_peer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "engine/transport/range_cursor.h"

namespace heddle::transport {
namespace {

// Bound of one system call: a time after which a stop is seen.
constexpr uint64_t kBytes = uint64_t{1} << 28;

}  // namespace

void allow_reading() {
  // Fails where the kernel has no Yama, which then asks for nothing.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

Result<MemoryPeer> MemoryPeer::open(int pid, int page_fd, uint64_t probe_address,
                                    uint64_t probe_value) {
  const int pid_fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (pid_fd < 0) return fail("pidfd_open: {}", strerror(errno));
  auto page = MappedPage::open(pid, page_fd);
  if (!page) {
    close(pid_fd);
    return fail(page);
  }
  MemoryPeer peer(pid, pid_fd, std::move(*page));
  uint64_t value = 0;
  const std::vector<Range> to{{reinterpret_cast<uint64_t>(&value), sizeof(value)}};
  if (const auto read = peer.read({{probe_address, sizeof(value)}}, to); !read) return fail(read);
  if (value != probe_value) return fail("process {} is not the rank that it should be", pid);
  return peer;
}

MemoryPeer::MemoryPeer(MemoryPeer&& other) noexcept
    : pid_(other.pid_), pid_fd_(std::exchange(other.pid_fd_, -1)), page_(std::move(other.page_)) {}

MemoryPeer::~MemoryPeer() {
  if (pid_fd_ >= 0) close(pid_fd_);
}

bool MemoryPeer::alive() const {
  pollfd state{pid_fd_, POLLIN, 0};  // readable once it has ended
  return poll(&state, 1, 0) == 0;
}

std::string MemoryPeer::condition() const {
  std::ifstream file(fmt::format("/proc/{}/stat", pid_));
  std::string line;
  std::getline(file, line);
  // The name in parentheses may hold anything.
  const size_t name_end = line.rfind(") ");
  const char state = name_end == std::string::npos ? '?' : line[name_end + 2];
  if (state == 'T') return fmt::format("process {} is stopped", pid_);
  if (state == 't') return fmt::format("process {} is held by a debugger", pid_);
  return {};
}

Result<> MemoryPeer::read(const std::vector<Range>& from, const std::vector<Range>& to) const {
  RangeCursor theirs(from), ours(to);
  std::vector<iovec> remote, local;
  while (!theirs.done()) {
    // The kernel stops at the end of the shorter list; the next call goes on from there.
    remote.clear();
    local.clear();
    const uint64_t bytes = std::min(theirs.peek(remote, kBytes), ours.peek(local, kBytes));
    const ssize_t got =
        process_vm_readv(pid_, local.data(), local.size(), remote.data(), remote.size(), 0);
    if (bytes == 0) return fail("more bytes are offered than there is room for");
    if (got < 0) return fail("process_vm_readv: {}", strerror(errno));
    if (static_cast<uint64_t>(got) != bytes)
      return fail("process_vm_readv: {} of {} bytes can be read", got, bytes);
    theirs.advance(bytes);
    ours.advance(bytes);
  }
  return {};
}

Result<std::vector<Range>> MemoryPeer::sources(const Descriptor& descriptor) const {
  std::vector<Range> list(descriptor.range_count);
  const uint64_t bytes = list.size() * sizeof(Range);
  if (const auto got = read({{descriptor.ranges_address, bytes}},
                            {{reinterpret_cast<uint64_t>(list.data()), bytes}});
      !got)
    return fail(got);
  return list;
}

}  // namespace heddle::transport
