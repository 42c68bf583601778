// A process group of GPUs: NCCL on a communication stream of our own, so that it is known when a
// collective began and ended, in a recorded step too.
//
// Thread contract: as transport::HostBackend. Collectives read what the caller's stream has written
// so far; wait() makes the caller's stream wait, wait(any limit) the caller too.
#pragma once

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "base/result.h"
#include "engine/cuda/communicator.h"
#include "engine/cuda/own_stream.h"
#include "engine/transport/journal.h"
#include "engine/transport/meeting.h"
#include "engine/transport/verdict.h"
#include "engine/transport/watchdog.h"

namespace heddle::cuda {

/// Has the next collective that this thread starts record these events around its work.
void time_next_collective(at::cuda::CUDAEvent* begin, at::cuda::CUDAEvent* end);
/// For backends: those events, which are used up; null where there are none.
struct Times {
  at::cuda::CUDAEvent *begin = nullptr, *end = nullptr;
};
Times take_times();

/// A number in the host's memory that a stream counts up; see count.cu.
class HostCounter {
 public:
  HostCounter();
  ~HostCounter();
  HostCounter(const HostCounter&) = delete;
  HostCounter& operator=(const HostCounter&) = delete;

  const std::atomic<uint64_t>& value() const { return *value_; }
  void count_on(cudaStream_t stream);

 private:
  std::atomic<uint64_t>* value_ = nullptr;
  unsigned long long* on_device_ = nullptr;
};

class NcclBackend : public c10d::Backend {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  /// Meets the other ranks and connects to them. Throws c10::Error.
  NcclBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
              const transport::GroupOptions& options);
  ~NcclBackend() override;

  const std::string getBackendName() const override { return "nccl"; }
  void setTimeout(std::chrono::milliseconds timeout) override { watchdog_->set_timeout(timeout); }

  /// Lists are one grouped call.
  Work allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                       const c10d::AllgatherOptions& = {}) override;
  Work reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                       const c10d::ReduceScatterOptions& = {}) override;
  Work allreduce(Tensors& tensors, const c10d::AllreduceOptions& = {}) override;
  Work alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                     std::vector<int64_t>& input_splits,
                     const c10d::AllToAllOptions& = {}) override;
  Work barrier(const c10d::BarrierOptions& = {}) override;

  /// Every group of this process. Any thread.
  static std::vector<NcclBackend*> all();
  /// The one of all ranks, which is made first of the largest; null with one rank. Any thread.
  static NcclBackend* of_all_ranks();
  /// Has what the ranks wait for in any group end: one that hangs may hold up the streams of the
  /// others. Any thread.
  static void abort_all();

  /// Throws the error that a group has failed of first, once there is one.
  static void check();

  /// NCCL reads and writes this memory in place, until it is taken back: before it is freed. The
  /// error is NCCL's. Under NCCL_CTA_POLICY zero, where all ranks have as much of it, it is a
  /// symmetric window, in which the copy engines can do what multiprocessors do else. Every rank of
  /// the group calls this.
  Result<> register_memory(void* memory, size_t bytes);
  void take_back_memory(void* memory);

  /// Between these, collectives are recorded and not run; then `replayed` each time that what was
  /// recorded is launched.
  void begin_recording();
  std::vector<transport::Descriptor> end_recording();
  void replayed(const std::vector<transport::Descriptor>& recorded);
  /// transport::Verdict::of_all, for as long as collectives are waited for.
  Result<std::string> verdict(const std::string& error);

 private:
  template <typename Calls>
  Work submit(transport::Kind kind, transport::Reduction reduction, const Tensors& sources,
              Tensors keep, Calls calls);
  std::string fault();
  bool is_as_large_on_all(size_t bytes);

  // One of the two.
  struct Registered {
    void* handle = nullptr;
    ncclWindow_t window = nullptr;
  };

  std::string name_;
  int run_rank_;
  OwnStream stream_;
  at::cuda::CUDAEvent ready_;
  HostCounter ended_;
  transport::Journal journal_{ended_.value()};
  bool recording_ = false;
  std::vector<transport::Descriptor> recorded_;
  std::map<void*, Registered> registered_;  // by address
  transport::Verdict verdict_;
  Communicator communicator_;
  std::unique_ptr<transport::Watchdog> watchdog_;  // ends before what it watches
};

}  // namespace heddle::cuda
