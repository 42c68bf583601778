#include "engine/cuda/communicator.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstring>
#include <future>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::cuda {
namespace {

using std::chrono::steady_clock;
using transport::GroupOptions;

int run_rank(const GroupOptions& options, int rank) {
  return options.ranks.empty() ? rank : options.ranks[static_cast<size_t>(rank)];
}

std::string gpu_key(int rank) { return "nccl.gpu." + std::to_string(rank); }

std::vector<uint8_t> own_gpu() {
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, c10::cuda::current_device()));
  return {std::begin(properties.uuid.bytes), std::end(properties.uuid.bytes)};
}

// Each rank's GPU: two ranks with the same one would make NCCL fail in its own words, or hang.
void meet(c10d::Store& store, int rank, int size, const GroupOptions& options,
          steady_clock::time_point deadline) {
  store.set(gpu_key(rank), own_gpu());
  std::vector<int> absent;
  std::map<std::string, int> owners;
  for (int other = 0; other < size; ++other) {
    while (!store.check({gpu_key(other)}) && steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (!store.check({gpu_key(other)})) {
      absent.push_back(run_rank(options, other));
      continue;
    }
    const std::vector<uint8_t> gpu = store.get(gpu_key(other));
    const auto [owner, first] = owners.emplace(std::string(gpu.begin(), gpu.end()), other);
    TORCH_CHECK_WITH(DistBackendError, first, "ranks ", run_rank(options, owner->second), " and ",
                     run_rank(options, other),
                     " have the same GPU, and NCCL takes one for each: take fewer ranks, show them "
                     "more GPUs (CUDA_VISIBLE_DEVICES), or let them share with transport.gpus = "
                     "\"host\"");
  }
  TORCH_CHECK_WITH(DistBackendError, absent.empty(), "group ", options.group, ": rank",
                   absent.size() > 1 ? "s " : " ", fmt::format("{}", fmt::join(absent, ", ")),
                   absent.size() > 1 ? " have" : " has", " not come to it after ",
                   std::chrono::duration<double>(options.timeout).count(), " s");
}

struct Connected {
  ncclResult_t result = ncclSuccess;
  std::string words;
  ncclComm_t communicator = nullptr;
};

// On a thread of its own: while ranks connect, NCCL neither stops on request nor has a time
// limit.
std::future<Connected> connect(const ncclUniqueId& id, int rank, int size) {
  std::packaged_task<Connected()> task([id, rank, size, device = c10::cuda::current_device()] {
    c10::cuda::set_device(device);
    Connected connected;
    connected.result = ncclCommInitRank(&connected.communicator, size, id, rank);
    if (connected.result != ncclSuccess) connected.words = words_of(connected.result, nullptr);
    return connected;
  });
  std::future<Connected> result = task.get_future();
  std::thread(std::move(task)).detach();
  return result;
}

}  // namespace

std::string words_of(ncclResult_t result, ncclComm_t communicator) {
  const char* more = ncclGetLastError(communicator);
  std::string words = ncclGetErrorString(result);
  return more && *more ? words + " (" + more + ")" : words;
}

Communicator::Communicator(c10d::Store& store, int rank, int size, const GroupOptions& options) {
  const auto deadline = steady_clock::now() + options.timeout;
  meet(store, rank, size, options, deadline);
  constexpr const char* kId = "nccl.id";
  ncclUniqueId id{};
  if (rank == 0) {
    const ncclResult_t made = ncclGetUniqueId(&id);
    TORCH_CHECK_WITH(DistBackendError, made == ncclSuccess, "NCCL does not start on rank ",
                     run_rank(options, rank), ": ", words_of(made, nullptr));
    store.set(kId, std::vector<uint8_t>(std::begin(id.internal), std::end(id.internal)));
  } else {
    store.wait({kId}, options.timeout);
    const std::vector<uint8_t> told = store.get(kId);
    TORCH_CHECK_WITH(DistBackendError, told.size() == sizeof(id.internal),
                     "what rank 0 tells of NCCL's start is damaged");
    std::memcpy(id.internal, told.data(), sizeof(id.internal));
  }
  std::future<Connected> connecting = connect(id, rank, size);
  const bool ended = connecting.wait_until(deadline) == std::future_status::ready;
  TORCH_CHECK_WITH(
      DistBackendError, ended, "NCCL has not connected the ranks of group ", options.group,
      " after ", std::chrono::duration<double>(options.timeout).count(), " s, seen from rank ",
      run_rank(options, rank),
      ": can they reach each other by the interface that NCCL_SOCKET_IFNAME names? NCCL_DEBUG=INFO "
      "tells more");
  const Connected connected = connecting.get();
  TORCH_CHECK_WITH(DistBackendError, connected.result == ncclSuccess,
                   "NCCL cannot connect the ranks of group ", options.group, " on rank ",
                   run_rank(options, rank), ": ", connected.words);
  communicator_ = connected.communicator;
}

Communicator::~Communicator() {
  if (!aborted_) (void)ncclCommDestroy(communicator_);  // the run ends: nobody acts on its error
}

void Communicator::abort() {
  if (aborted_.exchange(true)) return;
  std::thread([communicator = communicator_] { (void)ncclCommAbort(communicator); }).detach();
}

std::string Communicator::fault() const {
  if (aborted_) return {};
  ncclResult_t found = ncclSuccess;
  const ncclResult_t asked = ncclCommGetAsyncError(communicator_, &found);
  if (asked != ncclSuccess) return words_of(asked, communicator_);
  return found == ncclSuccess || found == ncclInProgress ? "" : words_of(found, communicator_);
}

}  // namespace heddle::cuda
