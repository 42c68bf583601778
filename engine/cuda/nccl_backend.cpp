#include "engine/cuda/nccl_backend.h"

#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "engine/cuda/count.h"
#include "engine/transport/host_backend.h"

namespace heddle::cuda {
namespace {

using transport::Descriptor;
using transport::Kind;
using transport::Reduction;

thread_local Times next_times;

struct Groups {
  std::mutex mutex;
  std::vector<NcclBackend*> all;
};
Groups& groups() {
  static auto* all = new Groups();
  return *all;
}

// Under way on the group's stream. Keeps its tensors until the caller's stream waits for them.
class StreamWork final : public c10d::Work {
 public:
  StreamWork(int rank, std::vector<at::Tensor> keep) : Work(rank), keep_(std::move(keep)) {}

  void record(const c10::cuda::CUDAStream& stream) { done_.record(stream); }
  bool isCompleted() override { return done_.query(); }
  bool wait(std::chrono::milliseconds) override {
    synchronize();
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

ncclComm_t communicator(c10d::ProcessGroupNCCL& group) {
  return reinterpret_cast<ncclComm_t>(group.getCommPtr());
}

// LibTorch's own limit comes later: its watchdog would end the process without a word of who lags.
constexpr int kLibTorchLimit = 3;

c10::intrusive_ptr<c10d::ProcessGroupNCCL::Options> options_for(std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create(true);
  options->timeout = kLibTorchLimit * timeout;
  return options;
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

NcclBackend::NcclBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                         const transport::GroupOptions& options)
    : Backend(rank, size),
      name_(options.group),
      stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true)),
      group_(c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size,
                                                         options_for(options.timeout))) {
  group_->eagerConnectSingleDevice(at::Device(c10::kCUDA, c10::cuda::current_device()));
  // One group that hangs may hold up the streams of the others.
  const auto abort_all = [] {
    for (NcclBackend* each : all()) each->group_->abort();
  };
  watchdog_ = std::make_unique<transport::Watchdog>(store->clone(), rank, size, options, journal_,
                                                    abort_all);
  const std::lock_guard lock(groups().mutex);
  groups().all.push_back(this);
}

NcclBackend::~NcclBackend() {
  {
    const std::lock_guard lock(groups().mutex);
    std::erase(groups().all, this);
  }
  const bool failed = watchdog_->error().has_value();
  watchdog_.reset();
  if (failed) return;  // the communicator is gone
  for (void* handle : registered_) ncclCommDeregister(communicator(*group_), handle);
}

void NcclBackend::setTimeout(std::chrono::milliseconds timeout) {
  watchdog_->set_timeout(timeout);
  group_->setTimeout(kLibTorchLimit * timeout);
}

void NcclBackend::check() const {
  const auto error = watchdog_->error();
  TORCH_CHECK_WITH(DistBackendError, !error, error.value_or(""));
}

template <typename Start>
NcclBackend::Work NcclBackend::submit(Kind kind, Reduction reduction, const Tensors& sources,
                                      Tensors keep, Start start) {
  check();
  const Descriptor descriptor = describe(kind, reduction, sources);
  if (recording_) {
    recorded_.push_back(descriptor);
  } else {
    journal_.post(descriptor);
  }
  const Times times = take_times();
  auto work = c10::make_intrusive<StreamWork>(getRank(), std::move(keep));
  ready_.record(c10::cuda::getCurrentCUDAStream());
  ready_.block(stream_);
  const c10::cuda::CUDAStreamGuard guard(stream_);
  if (times.begin) times.begin->record(stream_);
  start();
  if (times.end) times.end->record(stream_);
  ended_.count_on(stream_);
  work->record(stream_);
  return work;
}

// Each call below is "not asynchronous" to LibTorch: it then uses the current stream, ours.

NcclBackend::Work NcclBackend::allgather_into_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& given) {
  c10d::AllgatherOptions options = given;
  options.asyncOp = false;
  Tensors keep = outputs;
  keep.insert(keep.end(), inputs.begin(), inputs.end());
  return submit(Kind::all_gather, Reduction::none, inputs, std::move(keep),
                [&] { group_->allgather_into_tensor_coalesced(outputs, inputs, options); });
}

NcclBackend::Work NcclBackend::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& given) {
  c10d::ReduceScatterOptions options = given;
  options.asyncOp = false;
  Tensors keep = outputs;
  keep.insert(keep.end(), inputs.begin(), inputs.end());
  return submit(Kind::reduce_scatter, reduction_of(given.reduceOp), inputs, std::move(keep),
                [&] { group_->reduce_scatter_tensor_coalesced(outputs, inputs, options); });
}

// LibTorch's allreduce takes a list of one.
NcclBackend::Work NcclBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& given) {
  c10d::AllreduceCoalescedOptions options;
  options.reduceOp = given.reduceOp;
  options.asyncOp = false;
  return submit(Kind::all_reduce, reduction_of(given.reduceOp), tensors, tensors,
                [&] { group_->allreduce_coalesced(tensors, options); });
}

NcclBackend::Work NcclBackend::alltoall_base(at::Tensor& output, at::Tensor& input,
                                             std::vector<int64_t>& output_splits,
                                             std::vector<int64_t>& input_splits,
                                             const c10d::AllToAllOptions& given) {
  c10d::AllToAllOptions options = given;
  options.asyncOp = false;
  return submit(Kind::all_to_all, Reduction::none, {input}, {output, input}, [&] {
    group_->alltoall_base(output, input, output_splits, input_splits, options);
  });
}

NcclBackend::Work NcclBackend::barrier(const c10d::BarrierOptions&) {
  Tensors flag{at::zeros({1}, at::TensorOptions(at::kInt).device(stream_.device()))};
  c10d::AllreduceCoalescedOptions options;
  options.asyncOp = false;
  return submit(Kind::barrier, Reduction::none, {}, flag,
                [&] { group_->allreduce_coalesced(flag, options); });
}

Result<> NcclBackend::register_memory(void* memory, size_t bytes) {
  void* handle = nullptr;
  const ncclResult_t status = ncclCommRegister(communicator(*group_), memory, bytes, &handle);
  if (status != ncclSuccess)
    return fail("NCCL copies the buffers of group {}: they cannot be registered ({})", name_,
                ncclGetErrorString(status));
  if (handle) registered_.push_back(handle);
  return {};
}

void NcclBackend::begin_recording() {
  recording_ = true;
  recorded_.clear();
}

std::vector<Descriptor> NcclBackend::end_recording() {
  recording_ = false;
  return std::exchange(recorded_, {});
}

void NcclBackend::replayed(const std::vector<Descriptor>& recorded) {
  for (const Descriptor& descriptor : recorded) journal_.post(descriptor);
}

}  // namespace heddle::cuda
