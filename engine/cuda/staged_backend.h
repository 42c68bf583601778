// A process group of GPUs whose collectives go through the host's memory and the CPU's transport:
// slower than NCCL, but several ranks may share one GPU. For trying a layout on a workstation, and
// for testing on one GPU what needs ranks.
//
// Thread contract: as transport::HostBackend. A collective reads what the caller's stream has
// written so far; wait() returns when the host has its result, and makes the caller's stream wait
// for the copy to the GPU. It cannot be recorded: the host works in the middle of it.
#pragma once

#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "engine/cuda/own_stream.h"
#include "engine/transport/host_backend.h"

namespace heddle::cuda {

class StagedBackend : public c10d::Backend {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  /// Meets the other ranks. Throws c10::Error.
  StagedBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                const transport::GroupOptions& options);
  ~StagedBackend() override;

  const std::string getBackendName() const override { return "host"; }
  void setTimeout(std::chrono::milliseconds timeout) override { host_.setTimeout(timeout); }

  Work allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                       const c10d::AllgatherOptions& = {}) override;
  Work reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                       const c10d::ReduceScatterOptions& = {}) override;
  Work allreduce(Tensors& tensors, const c10d::AllreduceOptions& = {}) override;
  Work alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                     std::vector<int64_t>& input_splits,
                     const c10d::AllToAllOptions& = {}) override;
  Work barrier(const c10d::BarrierOptions& = {}) override;

  /// Whether this process has such a group.
  static bool any();

 private:
  class Queue;
  /// `run` does the collective on copies of `from` in the host's memory, giving `to`.
  template <typename Run>
  Work submit(c10d::OpType type, const Tensors& from, const Tensors& to, Run run);

  transport::HostBackend host_;
  OwnStream stream_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace heddle::cuda
