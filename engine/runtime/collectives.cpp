#include "engine/runtime/collectives.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <chrono>
#include <mutex>
#include <unordered_map>

#include "engine/kernels/kernel.h"
#include "engine/kernels/scratch.h"
#include "engine/runtime/process_groups.h"
#include "engine/transport/host_backend.h"

namespace heddle::runtime {
namespace {

using at::Tensor;
using Spread = Tensors(at::TensorList, at::IntArrayRef, c10::string_view);
using Reduce = Tensors(at::TensorList, c10::string_view, c10::string_view);

constexpr std::chrono::milliseconds kHostWaits = std::chrono::hours(24 * 365);

// Work under way, by the storage of its first result.
class Pending {
 public:
  void add(const Tensor& result, c10::intrusive_ptr<c10d::Work> work) {
    std::lock_guard lock(mutex_);
    works_[result.storage().data()] = std::move(work);
  }
  c10::intrusive_ptr<c10d::Work> take(const Tensor& result) {
    std::lock_guard lock(mutex_);
    const auto found = works_.find(result.storage().data());
    if (found == works_.end()) return nullptr;
    auto work = std::move(found->second);
    works_.erase(found);
    return work;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, c10::intrusive_ptr<c10d::Work>> works_;
};

Pending& pending() {
  static auto* all = new Pending();
  return *all;
}

Tensors start(Tensors results, c10::intrusive_ptr<c10d::Work> work) {
  pending().add(results.front(), std::move(work));
  return results;
}

std::vector<int64_t> with_rows(const Tensor& x, int64_t rows) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[0] = rows;
  return sizes;
}

// The first rows of a padded tensor.
Tensors first_rows(const Tensors& padded, at::IntArrayRef rows) {
  Tensors fulls;
  for (size_t i = 0; i < padded.size(); ++i) fulls.push_back(padded[i].narrow(0, 0, rows[i]));
  return fulls;
}

Tensors all_gather_now(at::TensorList shards_in, at::IntArrayRef rows,
                       c10::string_view group_name) {
  c10d::Backend& group = process_group(std::string(group_name));
  Tensors shards, padded;
  for (size_t i = 0; i < shards_in.size(); ++i) {
    shards.push_back(shards_in[i].contiguous());
    const int64_t gathered = shards[i].size(0) * group.getSize();
    TORCH_CHECK(rows[i] <= gathered, "all_gather of ", group.getSize(), " shards of ",
                shards[i].size(0), " rows cannot give ", rows[i]);
    padded.push_back(at::empty(with_rows(shards[i], gathered), shards[i].options()));
  }
  auto work = group.allgather_into_tensor_coalesced(padded, shards);
  return start(first_rows(padded, rows), std::move(work));
}

Tensors reduce_scatter_now(at::TensorList fulls, at::IntArrayRef shard_rows,
                           c10::string_view group_name) {
  c10d::Backend& group = process_group(std::string(group_name));
  Tensors sources, shards;
  for (size_t i = 0; i < fulls.size(); ++i) {
    const int64_t rows = fulls[i].size(0), padded = shard_rows[i] * group.getSize();
    TORCH_CHECK(rows <= padded, "reduce_scatter of ", rows, " rows does not fit ", group.getSize(),
                " shards of ", shard_rows[i]);
    Tensor source = fulls[i].contiguous();
    if (rows < padded) {
      source = at::zeros(with_rows(fulls[i], padded), fulls[i].options());
      source.narrow(0, 0, rows).copy_(fulls[i]);
    }
    sources.push_back(std::move(source));
    shards.push_back(at::empty(with_rows(fulls[i], shard_rows[i]), fulls[i].options()));
  }
  auto work = group.reduce_scatter_tensor_coalesced(shards, sources);
  return start(std::move(shards), std::move(work));
}

Tensors all_reduce_now(at::TensorList values, c10::string_view reduction,
                       c10::string_view group_name) {
  Tensors results;
  for (const Tensor& value : values) results.push_back(value.clone());
  auto work = start_all_reduce(results, std::string(reduction), std::string(group_name));
  return start(std::move(results), std::move(work));
}

Tensors activation_sum_now(at::TensorList values, c10::string_view group_name) {
  return all_reduce_now(values, "sum", group_name);
}

Tensors all_to_all_now(at::TensorList values, c10::string_view group_name) {
  Tensors results{at::empty_like(values.front(), at::MemoryFormat::Contiguous)};
  auto work =
      start_all_to_all(results.front(), values.front().contiguous(), std::string(group_name));
  return start(std::move(results), std::move(work));
}

Tensors shift_now(at::TensorList values, c10::string_view group_name) {
  Tensors results{at::empty_like(values.front(), at::MemoryFormat::Contiguous)};
  auto work = start_shift(results.front(), values.front().contiguous(), std::string(group_name));
  return start(std::move(results), std::move(work));
}

Tensors send_now(at::TensorList values, c10::string_view group_name) {
  Tensors sent{values.front().contiguous()};
  auto work = start_send(sent.front(), std::string(group_name));
  return start(std::move(sent), std::move(work));
}

Tensors receive_now(at::IntArrayRef sizes, at::ScalarType dtype, at::Device device,
                    c10::string_view group_name) {
  Tensors results{at::empty(sizes, at::TensorOptions(dtype).device(device))};
  if (device.is_meta()) return results;
  auto work = start_receive(results.front(), std::string(group_name));
  return start(std::move(results), std::move(work));
}

Tensors wait_now(at::TensorList results) {
  auto work = pending().take(results.front());
  TORCH_CHECK(work, "wait: no collective makes this tensor");
  // The host may read it next: where only a device would wait, what a failed collective has left
  // could be taken for its result.
  work->wait(kHostWaits);
  return results.vec();
}

Tensors spread_meta(at::TensorList values, at::IntArrayRef rows, c10::string_view) {
  TORCH_CHECK(values.size() == rows.size(),
              "a collective takes as many numbers of rows as tensors");
  Tensors results;
  for (size_t i = 0; i < values.size(); ++i)
    results.push_back(at::empty(with_rows(values[i], rows[i]), values[i].options()));
  return results;
}
Tensors all_reduce_meta(at::TensorList values, c10::string_view, c10::string_view) {
  Tensors results;
  for (const Tensor& value : values) results.push_back(at::empty(value.sizes(), value.options()));
  return results;
}
Tensors same_meta(at::TensorList values, c10::string_view group_name) {
  return all_reduce_meta(values, "sum", group_name);
}
Tensors wait_meta(at::TensorList results) { return results.vec(); }

using graph::Graph;
using graph::Node;
using graph::Role;
using graph::Workplace;

// Values from other hosts before they are summed.
int64_t scatter_scratch(const Graph& graph, const Node& node, const Workplace& place) {
  int64_t share = 0;
  for (graph::ValueId shard : node.outputs) share += graph.values[shard].bytes();
  return place.remote_ranks * kernels::aligned(share);
}

// And the copy that a small sum is taken from.
int64_t reduce_scratch(const Graph& graph, const Node& node, const Workplace& place) {
  if (place.gpu) return 0;
  constexpr int64_t kLine = 64;
  const int64_t ranks = graph::ranks_of(graph, node);
  int64_t bytes = 0, share = 0;
  for (const graph::Use& use : graph::list_of(node)) {
    const int64_t whole = graph.values[use.value].bytes();
    const int64_t lines = (whole + kLine - 1) / kLine;
    bytes += whole;
    share += (lines + ranks - 1) / ranks * kLine;
  }
  return bytes <= transport::kWholeBytes
             ? transport::kWholeBytes + place.remote_ranks * kernels::aligned(bytes)
             : place.remote_ranks * kernels::aligned(share);
}

const graph::OperatorEntries entries = {
    {"heddle.all_gather", {.role = Role::all_gather, .merges = true}},
    {"heddle.reduce_scatter",
     {.role = Role::reduce_scatter, .merges = true, .scratch = &scatter_scratch}},
    {"heddle.all_reduce", {.role = Role::all_reduce, .merges = true, .scratch = &reduce_scratch}},
    {"heddle.activation_gather", {.role = Role::all_gather, .of_activations = true}},
    {"heddle.activation_scatter",
     {.role = Role::reduce_scatter,
      .of_activations = true,
      .selective = graph::Selective::kept,
      .scratch = &scatter_scratch}},
    {"heddle.activation_sum",
     {.role = Role::all_reduce, .of_activations = true, .scratch = &reduce_scratch}},
    {"heddle.activation_all_to_all", {.role = Role::all_to_all, .of_activations = true}},
    {"heddle.activation_shift", {.role = Role::shift, .of_activations = true}},
    {"heddle.activation_send", {.role = Role::send, .of_activations = true}},
    {"heddle.activation_receive", {.role = Role::receive, .of_activations = true}},
    {"heddle.wait", {.role = Role::wait}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("all_gather(Tensor[] shards, int[] rows, str group) -> Tensor[]");
  library.def("reduce_scatter(Tensor[] fulls, int[] shard_rows, str group) -> Tensor[]");
  library.def("all_reduce(Tensor[] values, str reduction, str group) -> Tensor[]");
  library.def("activation_gather(Tensor[] parts, int[] rows, str group) -> Tensor[]");
  library.def("activation_scatter(Tensor[] wholes, int[] rows, str group) -> Tensor[]");
  library.def("activation_sum(Tensor[] values, str group) -> Tensor[]");
  library.def("activation_all_to_all(Tensor[] value, str group) -> Tensor[]");
  library.def("activation_shift(Tensor[] value, str group) -> Tensor[]");
  library.def("activation_send(Tensor[] value, str group) -> Tensor[]");
  library.def(
      "activation_receive(int[] sizes, ScalarType dtype, Device device, str group) -> Tensor[]",
      &receive_now);
  library.def("wait(Tensor[] pending) -> Tensor[]");
}
// Any device whose tensors the group's transport takes.
void implement(torch::Library& library) {
  library.impl("all_gather", &all_gather_now);
  library.impl("reduce_scatter", &reduce_scatter_now);
  library.impl("all_reduce", &all_reduce_now);
  library.impl("activation_gather", &all_gather_now);
  library.impl("activation_scatter", &reduce_scatter_now);
  library.impl("activation_sum", &activation_sum_now);
  library.impl("activation_all_to_all", &all_to_all_now);
  library.impl("activation_shift", &shift_now);
  library.impl("activation_send", &send_now);
  library.impl("wait", &wait_now);
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) { implement(library); }
TORCH_LIBRARY_IMPL(heddle, CUDA, library) { implement(library); }
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("all_gather", &spread_meta);
  library.impl("reduce_scatter", &spread_meta);
  library.impl("all_reduce", &all_reduce_meta);
  library.impl("activation_gather", &spread_meta);
  library.impl("activation_scatter", &spread_meta);
  library.impl("activation_sum", &same_meta);
  library.impl("activation_all_to_all", &same_meta);
  library.impl("activation_shift", &same_meta);
  library.impl("activation_send", &same_meta);
  library.impl("wait", &wait_meta);
}

Tensors all_gather(const Tensors& shards, const std::vector<int64_t>& rows,
                   const std::string& group) {
  static const auto op = kernels::find<Spread>("heddle::all_gather");
  return op.call(shards, rows, group);
}

Tensors reduce_scatter(const Tensors& fulls, const std::vector<int64_t>& shard_rows,
                       const std::string& group) {
  static const auto op = kernels::find<Spread>("heddle::reduce_scatter");
  return op.call(fulls, shard_rows, group);
}

Tensors all_reduce(const Tensors& values, const std::string& reduction, const std::string& group) {
  static const auto op = kernels::find<Reduce>("heddle::all_reduce");
  return op.call(values, reduction, group);
}

Tensors activation_gather(const Tensors& parts, const std::vector<int64_t>& rows,
                          const std::string& group) {
  static const auto op = kernels::find<Spread>("heddle::activation_gather");
  return op.call(parts, rows, group);
}

Tensors activation_scatter(const Tensors& wholes, const std::vector<int64_t>& rows,
                           const std::string& group) {
  static const auto op = kernels::find<Spread>("heddle::activation_scatter");
  return op.call(wholes, rows, group);
}

Tensors activation_sum(const Tensors& values, const std::string& group) {
  static const auto op =
      kernels::find<Tensors(at::TensorList, c10::string_view)>("heddle::activation_sum");
  return op.call(values, group);
}

at::Tensor activation_all_to_all(const Tensor& value, const std::string& group) {
  static const auto op =
      kernels::find<Tensors(at::TensorList, c10::string_view)>("heddle::activation_all_to_all");
  return op.call({value}, group).front();
}

at::Tensor activation_shift(const Tensor& value, const std::string& group) {
  static const auto op =
      kernels::find<Tensors(at::TensorList, c10::string_view)>("heddle::activation_shift");
  return op.call({value}, group).front();
}

Tensors wait(const Tensors& pending) {
  static const auto op = kernels::find<Tensors(at::TensorList)>("heddle::wait");
  return op.call(pending);
}

c10::intrusive_ptr<c10d::Work> start_all_reduce(Tensors& values, const std::string& reduction,
                                                const std::string& group) {
  TORCH_CHECK(reduction == "sum" || reduction == "max", "all_reduce takes sum or max, not ",
              reduction);
  c10d::AllreduceOptions options;
  options.reduceOp = reduction == "sum" ? c10d::ReduceOp::SUM : c10d::ReduceOp::MAX;
  return process_group(group).allreduce(values, options);
}

c10::intrusive_ptr<c10d::Work> start_all_to_all(Tensor& to, Tensor from, const std::string& group) {
  std::vector<int64_t> equal;
  return process_group(group).alltoall_base(to, from, equal, equal);
}

namespace {

// From rank 0 of a group of two to rank 1; either end calls it with its tensor.
c10::intrusive_ptr<c10d::Work> transfer(const Tensor& end, const std::string& group) {
  c10d::Backend& backend = process_group(group);
  TORCH_CHECK(backend.getSize() == 2, "a transfer takes a group of two ranks, \"", group, "\" has ",
              backend.getSize());
  const bool sends = backend.getRank() == 0;
  Tensor whole = end.view({1, -1}), nothing = whole.narrow(0, 0, 0);
  std::vector<int64_t> none{0, 0}, sent{0, 1}, received{1, 0};
  return sends ? backend.alltoall_base(nothing, whole, none, sent)
               : backend.alltoall_base(whole, nothing, received, none);
}

}  // namespace

c10::intrusive_ptr<c10d::Work> start_send(const Tensor& value, const std::string& group) {
  return transfer(value, group);
}
c10::intrusive_ptr<c10d::Work> start_receive(Tensor& value, const std::string& group) {
  return transfer(value, group);
}

c10::intrusive_ptr<c10d::Work> start_shift(Tensor& to, const Tensor& from,
                                           const std::string& group) {
  c10d::Backend& backend = process_group(group);
  const int rank = backend.getRank(), ranks = backend.getSize();
  std::vector<int64_t> sent(ranks, 0), received(ranks, 0);
  Tensor source = from.reshape({1, -1}), target = to.view({1, -1});
  sent[(rank + 1) % ranks] = received[(rank + ranks - 1) % ranks] = 1;
  return backend.alltoall_base(target, source, received, sent);
}

}  // namespace heddle::runtime
