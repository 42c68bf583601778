#include "memory.h"

#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "faults.h"
#include "streams.h"

namespace fake {
namespace {

constexpr size_t kContext = size_t{500} << 20;

struct Blocks {
  std::mutex mutex;
  std::map<char*, Block> all;
  size_t on_device = 0;
};
Blocks& blocks() {
  static auto* every = new Blocks();
  return *every;
}

size_t device_bytes() {
  static const char* set = std::getenv("FAKE_CUDA_MEMORY");
  static const size_t bytes = set ? std::strtoull(set, nullptr, 10) : size_t{80} << 30;
  return bytes;
}

char* map_memory(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

void* add(char* base, size_t bytes, bool on_device) {
  int device = 0;
  cudaGetDevice(&device);
  const std::lock_guard lock(blocks().mutex);
  blocks().all[base] = {base, bytes, on_device, device};
  if (on_device) blocks().on_device += bytes;
  return base;
}

// Zeros of whole pages take no memory of the host's until somebody writes there.
void fill(char* memory, int value, size_t bytes) {
  constexpr size_t kPage = 4096;
  const auto address = reinterpret_cast<size_t>(memory);
  const size_t before = std::min(bytes, (kPage - address % kPage) % kPage);
  const size_t pages = (bytes - before) / kPage * kPage;
  if (value != 0 || pages == 0 || madvise(memory + before, pages, MADV_DONTNEED) != 0) {
    std::memset(memory, value, bytes);
    return;
  }
  std::memset(memory, 0, before);
  std::memset(memory + before + pages, 0, bytes - before - pages);
}

// A copy that the host does not wait for; from and to memory that only the host knows, the device
// must take what it needs at once.
cudaError_t copy(void* to, const void* from, size_t bytes, cudaStream_t stream) {
  const bool to_host = !block_at(to).base, from_host = !block_at(from).base;
  if (from_host && !is_capturing(stream)) {
    auto taken = std::make_shared<std::vector<char>>(static_cast<const char*>(from),
                                                     static_cast<const char*>(from) + bytes);
    return put(stream, [to, taken] { std::memcpy(to, taken->data(), taken->size()); });
  }
  const cudaError_t done = put(stream, [to, from, bytes] { std::memmove(to, from, bytes); });
  if (done != cudaSuccess || !to_host || is_capturing(stream)) return done;
  return drain(stream_of(stream));
}

}  // namespace

Block block_at(const void* address) {
  const auto* byte = static_cast<const char*>(address);
  const std::lock_guard lock(blocks().mutex);
  auto after = blocks().all.upper_bound(const_cast<char*>(byte));
  if (after == blocks().all.begin()) return {};
  const Block& block = std::prev(after)->second;
  return byte < block.base + block.bytes ? block : Block{};
}

void* allocate(size_t bytes, const char* call) {
  {
    const std::lock_guard lock(blocks().mutex);
    if (blocks().on_device + bytes + kContext > device_bytes()) return nullptr;
  }
  note("%s %zu", call, bytes);
  char* memory = map_memory(bytes == 0 ? 1 : bytes);
  return memory ? add(memory, bytes == 0 ? 1 : bytes, true) : nullptr;
}

bool release(void* address) {
  Block block;
  {
    const std::lock_guard lock(blocks().mutex);
    const auto found = blocks().all.find(static_cast<char*>(address));
    if (found == blocks().all.end()) return false;
    block = found->second;
    if (block.on_device) blocks().on_device -= block.bytes;
    blocks().all.erase(found);
  }
  munmap(block.base, block.bytes);
  return true;
}

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  FAKE_CALL("cudaMalloc");
  if (const cudaError_t refused = unless_captured("cudaMalloc"); refused != cudaSuccess)
    return end_call(refused);
  *memory = allocate(bytes, "cudaMalloc");
  return end_call(*memory ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void* memory) {
  FAKE_CALL("cudaFree");
  if (!memory) return cudaSuccess;
  if (const cudaError_t refused = unless_captured("cudaFree"); refused != cudaSuccess)
    return end_call(refused);
  if (const cudaError_t idle = cudaDeviceSynchronize(); idle != cudaSuccess) return idle;
  return end_call(release(memory) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned int) {
  FAKE_CALL("cudaHostAlloc");
  if (const cudaError_t refused = unless_captured("cudaHostAlloc"); refused != cudaSuccess)
    return end_call(refused);
  note("cudaHostAlloc %zu", bytes);
  char* mapped = map_memory(bytes);
  if (!mapped) return end_call(cudaErrorMemoryAllocation);
  *memory = add(mapped, bytes, false);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  FAKE_CALL("cudaFreeHost");
  return end_call(release(memory) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaHostGetDevicePointer(void** on_device, void* memory, unsigned int) {
  *on_device = memory;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  FAKE_CALL("cudaMemGetInfo");
  const std::lock_guard lock(blocks().mutex);
  *total = device_bytes();
  *free = device_bytes() - kContext - blocks().on_device;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  FAKE_CALL("cudaPointerGetAttributes");
  const Block block = block_at(address);
  *attributes = {};
  attributes->device = block.device;
  attributes->type = !block.base       ? cudaMemoryTypeUnregistered
                     : block.on_device ? cudaMemoryTypeDevice
                                       : cudaMemoryTypeHost;
  if (block.base) attributes->devicePointer = const_cast<void*>(address);
  if (block.base && !block.on_device) attributes->hostPointer = const_cast<void*>(address);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  FAKE_CALL("cudaMemcpyAsync");
  return end_call(copy(to, from, bytes, stream));
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes,
                                cudaStream_t stream) {
  FAKE_CALL("cudaMemcpyPeerAsync");
  return end_call(copy(to, from, bytes, stream));
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  FAKE_CALL("cudaMemcpy");
  if (const cudaError_t refused = unless_captured("cudaMemcpy"); refused != cudaSuccess)
    return end_call(refused);
  const cudaError_t copied = copy(to, from, bytes, nullptr);
  return end_call(copied == cudaSuccess ? drain(stream_of(nullptr)) : copied);
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  FAKE_CALL("cudaMemsetAsync");
  return end_call(
      put(stream, [memory, value, bytes] { fill(static_cast<char*>(memory), value, bytes); }));
}
cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  return cudaMemsetAsync(memory, value, bytes, nullptr);
}

}  // extern "C"
