#include "engine/transport/host_backend.h"

#include <ATen/ops/empty.h>

#include <cstring>
#include <utility>

#include "engine/transport/reduce_rows.h"

namespace heddle::transport {
namespace {

thread_local std::string next_label;

Range range_of(const at::Tensor& tensor) {
  return {reinterpret_cast<uint64_t>(tensor.data_ptr()), static_cast<uint64_t>(tensor.nbytes())};
}

void check(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.device().is_cpu(), "the CPU transport takes no tensor of ", tensor.device());
  TORCH_CHECK(tensor.is_contiguous(), "the CPU transport takes contiguous tensors");
}

// A reduction has one type; moves take bytes of any.
c10::ScalarType type_of(Reduction reduction, const std::vector<at::Tensor>& sources,
                        const std::vector<at::Tensor>& targets) {
  if (sources.empty()) return at::kByte;
  const c10::ScalarType type = sources.front().scalar_type();
  bool alike = true;
  for (const auto* tensors : {&sources, &targets})
    for (const at::Tensor& tensor : *tensors) alike = alike && tensor.scalar_type() == type;
  if (reduction == Reduction::none) return alike ? type : at::kByte;
  TORCH_CHECK(alike, "what is reduced together has one type; the first tensor is ", type);
  TORCH_CHECK(can_reduce(type), "the CPU transport does not reduce ", type,
              "; it does float, double, bfloat16 and long");
  return type;
}

Reduction reduction_of(const c10d::ReduceOp& op) {
  if (op == c10d::ReduceOp::SUM) return Reduction::sum;
  TORCH_CHECK(op == c10d::ReduceOp::MAX, "the CPU transport reduces by sum and max");
  return Reduction::max;
}

// An operation over lists of tensors.
std::unique_ptr<Operation> operation_on(Kind kind, Reduction reduction,
                                        const std::vector<at::Tensor>& sources,
                                        const std::vector<at::Tensor>& targets) {
  auto operation = std::make_unique<Operation>();
  Descriptor& descriptor = operation->descriptor;
  descriptor.kind = kind;
  descriptor.reduction = reduction;
  descriptor.dtype = type_of(reduction, sources, targets);
  for (const at::Tensor& source : sources) {
    check(source);
    operation->sources.push_back(range_of(source));
    operation->tensors.push_back(source);
  }
  for (const at::Tensor& target : targets) {
    check(target);
    operation->targets.push_back(range_of(target));
    operation->tensors.push_back(target);
  }
  return operation;
}

// `larger` and `smaller`: tensor i of one has `size` times the elements of the other's.
void check_sizes(const char* what, const std::vector<at::Tensor>& larger,
                 const std::vector<at::Tensor>& smaller, int size) {
  TORCH_CHECK(larger.size() == smaller.size(), what, ": ", larger.size(), " full tensors for ",
              smaller.size(), " shards");
  for (size_t i = 0; i < larger.size(); ++i)
    TORCH_CHECK(larger[i].numel() == smaller[i].numel() * size, what, ": tensor ", i, " has ",
                larger[i].numel(), " elements, not ", size, " times the shard's ",
                smaller[i].numel());
}

// The rows of dim 0 that go to, or come from, each rank.
std::vector<Range> split_ranges(const at::Tensor& tensor, const std::vector<int64_t>& splits,
                                int size) {
  const Range all = range_of(tensor);
  TORCH_CHECK(splits.empty() || static_cast<int>(splits.size()) == size,
              "all-to-all: ", splits.size(), " splits for ", size, " ranks");
  const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  TORCH_CHECK(!splits.empty() || rows % size == 0, "all-to-all: ", rows, " rows do not divide by ",
              size);
  const uint64_t row_bytes = rows == 0 ? 0 : all.bytes / rows;
  std::vector<Range> ranges;
  uint64_t at = all.address;
  for (int r = 0; r < size; ++r) {
    const uint64_t bytes = row_bytes * (splits.empty() ? rows / size : splits[r]);
    ranges.push_back({at, bytes});
    at += bytes;
  }
  TORCH_CHECK(at == all.address + all.bytes, "all-to-all: the splits do not add up to ", rows);
  return ranges;
}

}  // namespace

void label_next_collective(std::string label) { next_label = std::move(label); }
std::string take_label() { return std::exchange(next_label, {}); }

HostBackend::HostBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                         GroupOptions options)
    : Backend(rank, size), transport_(store, rank, size, std::move(options)) {}

HostBackend::Work HostBackend::submit(std::unique_ptr<Operation> operation) {
  const std::string label = take_label();
  std::strncpy(operation->descriptor.label, label.c_str(), kLabelBytes - 1);
  return transport_.submit(std::move(operation));
}

HostBackend::Work HostBackend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                               const c10d::AllgatherOptions&) {
  check_sizes("all-gather", outputs, inputs, size_);
  return submit(operation_on(Kind::all_gather, Reduction::none, inputs, outputs));
}

HostBackend::Work HostBackend::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) {
  check_sizes("reduce-scatter", inputs, outputs, size_);
  return submit(
      operation_on(Kind::reduce_scatter, reduction_of(options.reduceOp), inputs, outputs));
}

HostBackend::Work HostBackend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                               const c10d::AllgatherOptions& options) {
  Tensors outputs{output}, inputs{input};
  return allgather_into_tensor_coalesced(outputs, inputs, options);
}

HostBackend::Work HostBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                    const c10d::ReduceScatterOptions& options) {
  Tensors outputs{output}, inputs{input};
  return reduce_scatter_tensor_coalesced(outputs, inputs, options);
}

HostBackend::Work HostBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  auto operation = operation_on(Kind::all_reduce, reduction_of(options.reduceOp), tensors, tensors);
  if (static_cast<int64_t>(total_bytes(operation->sources)) <= kWholeBytes) {
    // Every rank sums all of it in place, so the others read a copy.
    operation->whole = true;
    at::Tensor copy = at::empty({kWholeBytes}, at::kByte);
    lay_out(operation->sources, copy);
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].nbytes() > 0)
        std::memcpy(operation->sources[i].data(), tensors[i].data_ptr(), tensors[i].nbytes());
    operation->tensors.push_back(copy);
  }
  return submit(std::move(operation));
}

HostBackend::Work HostBackend::alltoall_base(at::Tensor& output, at::Tensor& input,
                                             std::vector<int64_t>& output_splits,
                                             std::vector<int64_t>& input_splits,
                                             const c10d::AllToAllOptions&) {
  auto operation = operation_on(Kind::all_to_all, Reduction::none, {input}, {output});
  operation->sources = split_ranges(input, input_splits, size_);
  operation->targets = split_ranges(output, output_splits, size_);
  return submit(std::move(operation));
}

HostBackend::Work HostBackend::barrier(const c10d::BarrierOptions&) {
  return submit(operation_on(Kind::barrier, Reduction::none, {}, {}));
}

}  // namespace heddle::transport
