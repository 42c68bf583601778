// Heddle's process group for CPU tensors: ranks of one host read each other's memory, others meet
// over TCP. Sums are taken in rank order, element by element, whatever the transport and
// however the data is cut into collectives.
//
// Thread contract: collectives are started from one thread at a time, in the same order on every
// rank; a tensor belongs to its collective until wait() has returned.
#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/transport/transport.h"

namespace heddle::transport {

/// Names the next collective that this thread starts, for errors; ranks must agree on the name.
void label_next_collective(std::string label);
/// For backends: that label, which is used up.
std::string take_label();

/// Bytes up to which an all-reduce is summed by every rank whole, from copies of this size: it then
/// costs what its messages cost, and one exchange is cheaper than two.
inline constexpr int64_t kWholeBytes = 4096;

/// Every work is a TimedWork, whose wait() throws c10::DistBackendError: ranks in different
/// collectives, a rank that is gone, a timeout; from then on every collective of the group fails
/// so.
class HostBackend : public c10d::Backend {
 public:
  /// Meets the other ranks. Throws c10::Error.
  HostBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
              GroupOptions options = {});

  const std::string getBackendName() const override { return "heddle"; }
  /// How long a collective waits for the other ranks, from the next one on.
  void setTimeout(std::chrono::milliseconds timeout) override { transport_.set_timeout(timeout); }
  /// "memory", "memory + tcp" or "tcp".
  std::string transport() const { return transport_.name(); }
  /// Ranks of the group that a rank reaches over TCP: the most that any has.
  int remote_ranks() const { return transport_.remote_ranks(); }
  /// Why ranks of one host use TCP, or empty.
  const std::string& warning() const { return transport_.warning(); }

  using Work = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  /// Vector collectives: outputs[i] = the ranks' inputs[i], one after the other.
  Work allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                       const c10d::AllgatherOptions& = {}) override;
  /// outputs[i] = this rank's share of the sum of the ranks' inputs[i].
  Work reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                       const c10d::ReduceScatterOptions& = {}) override;
  Work _allgather_base(at::Tensor& output, at::Tensor& input,
                       const c10d::AllgatherOptions& = {}) override;
  Work _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                            const c10d::ReduceScatterOptions& = {}) override;
  /// In place; sum or max.
  Work allreduce(Tensors& tensors, const c10d::AllreduceOptions& = {}) override;
  /// Splits are rows of dim 0; empty: even.
  Work alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                     std::vector<int64_t>& input_splits,
                     const c10d::AllToAllOptions& = {}) override;
  Work barrier(const c10d::BarrierOptions& = {}) override;

  uint64_t getSequenceNumberForGroup() override { return transport_.submitted(); }

 private:
  Work submit(std::unique_ptr<Operation> operation);

  Transport transport_;
};

}  // namespace heddle::transport
