#include "engine/cuda/nccl_backend.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/say.h"
#include "engine/cuda/count.h"
#include "engine/transport/host_backend.h"

namespace heddle::cuda {
namespace {

using std::chrono::steady_clock;
using transport::Descriptor;
using transport::Kind;
using transport::Reduction;

/// The time that recording a collective may take once another rank has given up.
constexpr std::chrono::milliseconds kRecordingCall(5000);
/// The time for the ranks' own threads to leave the device once all groups are aborted.
constexpr std::chrono::seconds kLastResort(8);

thread_local Times next_times;

struct Groups {
  std::mutex mutex;
  std::vector<NcclBackend*> all;
  std::string error;  // the first of any: what fails behind it fails because of it
};
Groups& groups() {
  static auto* all = new Groups();
  return *all;
}

// Since when the process is in a call of NCCL's, in any group; 0: it is in none.
std::atomic<steady_clock::rep> in_call_since = 0;

// Under way on the group's stream. Keeps its tensors until the caller's stream waits for them.
class StreamWork final : public c10d::Work {
 public:
  StreamWork(int rank, std::vector<at::Tensor> keep) : Work(rank), keep_(std::move(keep)) {}

  void record(const c10::cuda::CUDAStream& stream) { done_.record(stream); }
  bool isCompleted() override { return done_.query(); }
  bool wait(std::chrono::milliseconds limit) override {
    synchronize();
    if (limit == kNoTimeout) return true;
    done_.synchronize();
    NcclBackend::check();
    return true;
  }
  void synchronize() override {
    done_.block(c10::cuda::getCurrentCUDAStream());
    keep_.clear();
  }

 private:
  at::cuda::CUDAEvent done_;
  std::vector<at::Tensor> keep_;
};

Reduction reduction_of(const c10d::ReduceOp& op) {
  return op == c10d::ReduceOp::MAX ? Reduction::max : Reduction::sum;
}

ncclRedOp_t nccl_reduction(Reduction reduction) {
  return reduction == Reduction::max ? ncclMax : ncclSum;
}

// The types that can be summed.
ncclDataType_t nccl_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return ncclFloat32;
    case at::kBFloat16:
      return ncclBfloat16;
    case at::kDouble:
      return ncclFloat64;
    case at::kInt:
      return ncclInt32;
    case at::kLong:
      return ncclInt64;
    default:
      TORCH_CHECK(false, "NCCL sums no ", type);
  }
}

Descriptor describe(Kind kind, Reduction reduction, const std::vector<at::Tensor>& sources) {
  transport::Operation operation;
  operation.descriptor.kind = kind;
  operation.descriptor.reduction = reduction;
  if (!sources.empty()) operation.descriptor.dtype = sources.front().scalar_type();
  for (const at::Tensor& source : sources)
    operation.sources.push_back({reinterpret_cast<uint64_t>(source.const_data_ptr()),
                                 static_cast<uint64_t>(source.nbytes())});
  transport::describe_sources(operation);
  const std::string label = transport::take_label();
  std::strncpy(operation.descriptor.label, label.c_str(), transport::kLabelBytes - 1);
  return operation.descriptor;
}

// The calls that `calls` gives to its argument are one; the first error counts.
template <typename Calls>
ncclResult_t grouped(const Calls& calls) {
  ncclResult_t result = ncclGroupStart();
  if (result != ncclSuccess) return result;
  calls([&](ncclResult_t of_call) {
    if (result == ncclSuccess) result = of_call;
  });
  const ncclResult_t ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
}

// Bytes of a row of dimension 0.
size_t row_bytes(const at::Tensor& tensor) {
  return tensor.size(0) == 0 ? 0 : tensor.nbytes() / static_cast<size_t>(tensor.size(0));
}

// Rows for, or from, each rank; none given: equal parts.
std::vector<size_t> parts_of(const at::Tensor& tensor, const std::vector<int64_t>& rows,
                             int ranks) {
  std::vector<size_t> bytes;
  if (rows.empty()) return std::vector<size_t>(ranks, tensor.nbytes() / ranks);
  for (const int64_t of_rank : rows)
    bytes.push_back(static_cast<size_t>(of_rank) * row_bytes(tensor));
  return bytes;
}

// Runs on a watchdog's thread. The rank's own thread says what has happened, unless it does not
// come out of a call of CUDA's.
void fail_all(const std::string& error) {
  {
    const std::lock_guard lock(groups().mutex);
    if (!groups().error.empty()) return;
    groups().error = error;
  }
  NcclBackend::abort_all();
  std::thread([error] {
    std::this_thread::sleep_for(kLastResort);
    say(stderr, "{}\n", error);
    std::fflush(stderr);
    _exit(1);
  }).detach();
}

}  // namespace

void time_next_collective(at::cuda::CUDAEvent* begin, at::cuda::CUDAEvent* end) {
  next_times = {begin, end};
}

Times take_times() { return std::exchange(next_times, {}); }

HostCounter::HostCounter() {
  void* memory = nullptr;
  C10_CUDA_CHECK(cudaHostAlloc(&memory, sizeof(*value_), cudaHostAllocMapped));
  value_ = new (memory) std::atomic<uint64_t>(0);
  void* on_device = nullptr;
  C10_CUDA_CHECK(cudaHostGetDevicePointer(&on_device, memory, 0));
  on_device_ = static_cast<unsigned long long*>(on_device);
}

HostCounter::~HostCounter() { C10_CUDA_CHECK_WARN(cudaFreeHost(value_)); }

void HostCounter::count_on(cudaStream_t stream) {
  count_up(on_device_, stream);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

std::vector<NcclBackend*> NcclBackend::all() {
  const std::lock_guard lock(groups().mutex);
  return groups().all;
}

NcclBackend* NcclBackend::of_all_ranks() {
  const std::vector<NcclBackend*> made = all();
  const auto largest = std::ranges::max_element(made, {}, &NcclBackend::getSize);
  return largest == made.end() ? nullptr : *largest;
}

void NcclBackend::abort_all() {
  for (NcclBackend* each : all()) each->communicator_.abort();
}

NcclBackend::NcclBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                         const transport::GroupOptions& options)
    : Backend(rank, size),
      name_(options.group),
      run_rank_(options.ranks.empty() ? rank : options.ranks[static_cast<size_t>(rank)]),
      verdict_(store->clone(), rank, size, options),
      communicator_(*store, rank, size, options) {
  watchdog_ = std::make_unique<transport::Watchdog>(store->clone(), rank, size, options, journal_,
                                                    &fail_all, [this] { return fault(); });
  const std::lock_guard lock(groups().mutex);
  groups().all.push_back(this);
}

NcclBackend::~NcclBackend() {
  {
    const std::lock_guard lock(groups().mutex);
    std::erase(groups().all, this);
  }
  watchdog_.reset();
}

void NcclBackend::check() {
  const std::lock_guard lock(groups().mutex);
  TORCH_CHECK_WITH(DistBackendError, groups().error.empty(), groups().error);
}

// Runs on the watchdog's thread.
std::string NcclBackend::fault() {
  if (const std::string found = communicator_.fault(); !found.empty())
    return fmt::format("NCCL reports on rank {} in group {}: {}", run_rank_, name_, found);
  const steady_clock::rep since = in_call_since;
  if (since == 0) return {};
  const steady_clock::duration in_call(steady_clock::now().time_since_epoch().count() - since);
  if (in_call < std::min(kRecordingCall, watchdog_->timeout() / 2)) return {};
  const std::string failed = verdict_.told();
  return failed.empty() ? "" : "the step cannot be recorded as a CUDA graph: " + failed;
}

template <typename Calls>
NcclBackend::Work NcclBackend::submit(Kind kind, Reduction reduction, const Tensors& sources,
                                      Tensors keep, Calls calls) {
  check();
  const Descriptor descriptor = describe(kind, reduction, sources);
  journal_.post(descriptor);
  if (recording_) recorded_.push_back(descriptor);
  const Times times = take_times();
  auto work = c10::make_intrusive<StreamWork>(getRank(), std::move(keep));
  ready_.record(c10::cuda::getCurrentCUDAStream());
  ready_.block(stream_.get());
  const c10::cuda::CUDAStreamGuard guard(stream_.get());
  if (times.begin) times.begin->record(stream_.get());
  in_call_since = steady_clock::now().time_since_epoch().count();
  const ncclResult_t result = grouped(calls);
  in_call_since = 0;
  check();  // an aborted call says less
  TORCH_CHECK_WITH(DistBackendError, result == ncclSuccess, "NCCL fails on rank ", run_rank_,
                   " in ", to_string(descriptor), " of group ", name_, ": ",
                   words_of(result, communicator_.get()));
  if (recording_) journal_.recorded();
  if (times.end) times.end->record(stream_.get());
  ended_.count_on(stream_.get());
  work->record(stream_.get());
  return work;
}

NcclBackend::Work NcclBackend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                               const c10d::AllgatherOptions&) {
  Tensors keep = outputs;
  keep.insert(keep.end(), inputs.begin(), inputs.end());
  return submit(Kind::all_gather, Reduction::none, inputs, std::move(keep), [&](auto call) {
    for (size_t i = 0; i < inputs.size(); ++i)
      call(ncclAllGather(inputs[i].const_data_ptr(), outputs[i].mutable_data_ptr(),
                         inputs[i].nbytes(), ncclUint8, communicator_.get(), stream_.get()));
  });
}

NcclBackend::Work NcclBackend::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) {
  const Reduction reduction = reduction_of(options.reduceOp);
  Tensors keep = outputs;
  keep.insert(keep.end(), inputs.begin(), inputs.end());
  return submit(Kind::reduce_scatter, reduction, inputs, std::move(keep), [&](auto call) {
    for (size_t i = 0; i < inputs.size(); ++i)
      call(ncclReduceScatter(inputs[i].const_data_ptr(), outputs[i].mutable_data_ptr(),
                             outputs[i].numel(), nccl_type(inputs[i].scalar_type()),
                             nccl_reduction(reduction), communicator_.get(), stream_.get()));
  });
}

NcclBackend::Work NcclBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  const Reduction reduction = reduction_of(options.reduceOp);
  return submit(Kind::all_reduce, reduction, tensors, tensors, [&](auto call) {
    for (const at::Tensor& tensor : tensors)
      call(ncclAllReduce(tensor.const_data_ptr(), tensor.mutable_data_ptr(), tensor.numel(),
                         nccl_type(tensor.scalar_type()), nccl_reduction(reduction),
                         communicator_.get(), stream_.get()));
  });
}

NcclBackend::Work NcclBackend::alltoall_base(at::Tensor& output, at::Tensor& input,
                                             std::vector<int64_t>& output_splits,
                                             std::vector<int64_t>& input_splits,
                                             const c10d::AllToAllOptions&) {
  const std::vector<size_t> sent = parts_of(input, input_splits, getSize());
  const std::vector<size_t> received = parts_of(output, output_splits, getSize());
  return submit(Kind::all_to_all, Reduction::none, {input}, {output, input}, [&](auto call) {
    const auto* from = static_cast<const std::byte*>(input.const_data_ptr());
    auto* to = static_cast<std::byte*>(output.mutable_data_ptr());
    for (int peer = 0; peer < getSize(); ++peer) {
      if (sent[peer] > 0)
        call(ncclSend(from, sent[peer], ncclUint8, peer, communicator_.get(), stream_.get()));
      if (received[peer] > 0)
        call(ncclRecv(to, received[peer], ncclUint8, peer, communicator_.get(), stream_.get()));
      from += sent[peer];
      to += received[peer];
    }
  });
}

NcclBackend::Work NcclBackend::barrier(const c10d::BarrierOptions&) {
  Tensors flag{at::zeros({1}, at::TensorOptions(at::kInt).device(stream_.get().device()))};
  return submit(Kind::barrier, Reduction::none, {}, flag, [&](auto call) {
    call(ncclAllReduce(flag.front().const_data_ptr(), flag.front().mutable_data_ptr(), 1, ncclInt32,
                       ncclSum, communicator_.get(), stream_.get()));
  });
}

bool NcclBackend::is_as_large_on_all(size_t bytes) {
  const auto size = static_cast<int64_t>(bytes);
  Tensors sizes{at::tensor({size, -size}, at::kLong).to(stream_.get().device())};
  allreduce(sizes, {c10d::ReduceOp::MAX})->wait(watchdog_->timeout());
  const at::Tensor most = sizes.front().cpu();
  return most[0].item<int64_t>() == -most[1].item<int64_t>();
}

Result<> NcclBackend::register_memory(void* memory, size_t bytes) {
  const char* policy = std::getenv("NCCL_CTA_POLICY");
  const bool windows = policy && std::to_string(NCCL_CTA_POLICY_ZERO) == policy;
  Registered registered;
  const ncclResult_t status =
      windows && is_as_large_on_all(bytes)
          ? ncclCommWindowRegister(communicator_.get(), memory, bytes, &registered.window,
                                   NCCL_WIN_COLL_SYMMETRIC)
          : ncclCommRegister(communicator_.get(), memory, bytes, &registered.handle);
  if (status != ncclSuccess)
    return fail("NCCL copies the buffers of group {}: they cannot be registered ({})", name_,
                ncclGetErrorString(status));
  if (registered.handle || registered.window) registered_[memory] = registered;
  return {};
}

void NcclBackend::take_back_memory(void* memory) {
  const auto registered = registered_.extract(memory);
  if (registered.empty() || communicator_.aborted()) return;
  // Its registration is all that could be lost, and the memory goes next.
  const auto [handle, window] = registered.mapped();
  (void)(window ? ncclCommWindowDeregister(communicator_.get(), window)
                : ncclCommDeregister(communicator_.get(), handle));
}

void NcclBackend::begin_recording() {
  recording_ = true;
  recorded_.clear();
  journal_.begin_recording();
}

std::vector<Descriptor> NcclBackend::end_recording() {
  recording_ = false;
  journal_.end_recording();
  return std::exchange(recorded_, {});
}

void NcclBackend::replayed(const std::vector<Descriptor>& recorded) {
  for (const Descriptor& descriptor : recorded) journal_.post(descriptor);
}

Result<std::string> NcclBackend::verdict(const std::string& error) {
  return verdict_.of_all(error, watchdog_->timeout());
}

}  // namespace heddle::cuda
