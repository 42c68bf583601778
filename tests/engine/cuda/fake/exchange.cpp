#include "exchange.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "faults.h"

namespace fake {

struct Exchange::Rank {
  std::atomic<int> process;
  std::atomic<uint64_t> posted, read, met;
  Sent sent[kMaxRanks];
};
struct Exchange::Shared {
  std::atomic<int> come;
  Rank ranks[kMaxRanks];
};

std::string Exchange::make_file() {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder ? folder : "/tmp") + "/fake-nccl-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return {};
  close(file);
  return path;
}

Exchange::Exchange(const std::string& path, int rank, int size) : rank_(rank), size_(size) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // the others read this one's memory
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) std::abort();
  shared_ = static_cast<Shared*>(memory);
  shared_->ranks[rank].process = getpid();
  ++shared_->come;
  while (shared_->come < size && !aborted()) usleep(1000);
  unlink(path.c_str());
}

bool Exchange::aborted() const { return aborted_ || broken(); }

template <typename Counter>
bool Exchange::all_at(Counter counter, uint64_t count) const {
  for (int each = 0; each < size_; ++each)
    while ((shared_->ranks[each].*counter).load(std::memory_order_acquire) < count) {
      if (aborted()) return false;
      usleep(50);
    }
  return !aborted();
}

bool Exchange::swap(const std::vector<Sent>& sent, std::vector<std::vector<char>>& received) {
  ++swaps_;
  Rank& own = shared_->ranks[rank_];
  for (int each = 0; each < size_; ++each) own.sent[each] = sent[static_cast<size_t>(each)];
  own.posted.store(swaps_, std::memory_order_release);
  if (!all_at(&Rank::posted, swaps_)) return false;
  received.resize(static_cast<size_t>(size_));
  for (int each = 0; each < size_; ++each) {
    const Sent& from = shared_->ranks[each].sent[rank_];
    std::vector<char>& to = received[static_cast<size_t>(each)];
    to.resize(from.bytes);
    if (from.bytes == 0) continue;
    const iovec local{to.data(), from.bytes};
    const iovec remote{reinterpret_cast<void*>(from.address), from.bytes};
    if (each == rank_)
      std::memcpy(to.data(), remote.iov_base, from.bytes);
    else if (process_vm_readv(shared_->ranks[each].process, &local, 1, &remote, 1, 0) < 0)
      return false;
  }
  own.read.store(swaps_, std::memory_order_release);
  return all_at(&Rank::read, swaps_);
}

bool Exchange::meet() {
  shared_->ranks[rank_].met.store(++meetings_, std::memory_order_release);
  return all_at(&Rank::met, meetings_);
}

}  // namespace fake
