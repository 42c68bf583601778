#include "engine/runtime/collectives.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <mutex>
#include <unordered_map>

#include "engine/kernels/kernel.h"
#include "engine/runtime/process_groups.h"

namespace heddle::runtime {
namespace {

using at::Tensor;
using Gather = Tensor(const Tensor&, int64_t, const std::string&);
using Reduce = Tensor(const Tensor&, const std::string&, const std::string&);

// Work under way, by the storage of its result.
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

thread_local std::function<void()> next_end;

// Not every transport's work has a future: then `ended` is never called.
void call_at_end(c10d::Work& work, std::function<void()> ended) try {
  work.getFuture()->addCallback([ended = std::move(ended)](c10::ivalue::Future&) { ended(); });
} catch (const c10::Error&) {
}

void start(const Tensor& result, c10::intrusive_ptr<c10d::Work> work) {
  if (next_end) call_at_end(*work, std::exchange(next_end, nullptr));
  pending().add(result, std::move(work));
}

std::vector<int64_t> with_rows(const Tensor& x, int64_t rows) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[0] = rows;
  return sizes;
}

Tensor all_gather_now(const Tensor& shard_in, int64_t rows, const std::string& group_name) {
  c10d::Backend& group = process_group(group_name);
  const Tensor shard = shard_in.contiguous();
  const int64_t gathered = shard.size(0) * group.getSize();
  TORCH_CHECK(rows <= gathered, "all_gather of ", group.getSize(), " shards of ", shard.size(0),
              " rows cannot give ", rows);
  Tensor full = at::empty(with_rows(shard, gathered), shard.options());
  Tensor source = shard;
  start(full, group._allgather_base(full, source));
  return full.narrow(0, 0, rows);
}

Tensor reduce_scatter_now(const Tensor& full, int64_t shard_rows, const std::string& group_name) {
  c10d::Backend& group = process_group(group_name);
  const int64_t padded = shard_rows * group.getSize();
  TORCH_CHECK(full.size(0) <= padded, "reduce_scatter of ", full.size(0), " rows does not fit ",
              group.getSize(), " shards of ", shard_rows);
  Tensor source = full.contiguous();
  if (full.size(0) < padded) {
    source = at::zeros(with_rows(full, padded), full.options());
    source.narrow(0, 0, full.size(0)).copy_(full);
  }
  Tensor shard = at::empty(with_rows(full, shard_rows), full.options());
  start(shard, group._reduce_scatter_base(shard, source));
  return shard;
}

Tensor all_reduce_now(const Tensor& x, const std::string& reduction,
                      const std::string& group_name) {
  TORCH_CHECK(reduction == "sum" || reduction == "max", "all_reduce takes sum or max, not ",
              reduction);
  c10d::AllreduceOptions options;
  options.reduceOp = reduction == "sum" ? c10d::ReduceOp::SUM : c10d::ReduceOp::MAX;
  Tensor result = x.clone();
  std::vector<Tensor> tensors{result};
  start(result, process_group(group_name).allreduce(tensors, options));
  return result;
}

Tensor wait_now(const Tensor& result) {
  auto work = pending().take(result);
  TORCH_CHECK(work, "wait: no collective makes this tensor");
  work->wait();
  return result;
}

Tensor all_gather_meta(const Tensor& shard, int64_t rows, const std::string&) {
  return at::empty(with_rows(shard, rows), shard.options());
}
Tensor reduce_scatter_meta(const Tensor& full, int64_t shard_rows, const std::string&) {
  return at::empty(with_rows(full, shard_rows), full.options());
}
Tensor all_reduce_meta(const Tensor& x, const std::string&, const std::string&) {
  return at::empty(x.sizes(), x.options());
}
Tensor wait_meta(const Tensor& result) { return result; }

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("all_gather(Tensor shard, int rows, str group) -> Tensor");
  library.def("reduce_scatter(Tensor full, int shard_rows, str group) -> Tensor");
  library.def("all_reduce(Tensor x, str reduction, str group) -> Tensor");
  library.def("wait(Tensor(a) pending) -> Tensor(a)");
}
// Any device whose tensors the group's transport takes.
void implement(torch::Library& library) {
  library.impl("all_gather", &all_gather_now);
  library.impl("reduce_scatter", &reduce_scatter_now);
  library.impl("all_reduce", &all_reduce_now);
  library.impl("wait", &wait_now);
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) { implement(library); }
TORCH_LIBRARY_IMPL(heddle, CUDA, library) { implement(library); }
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("all_gather", &all_gather_meta);
  library.impl("reduce_scatter", &reduce_scatter_meta);
  library.impl("all_reduce", &all_reduce_meta);
  library.impl("wait", &wait_meta);
}

Tensor all_gather(const Tensor& shard, int64_t rows, const std::string& group) {
  static const auto op = kernels::find<Gather>("heddle::all_gather");
  return op.call(shard, rows, group);
}

Tensor reduce_scatter(const Tensor& full, int64_t shard_rows, const std::string& group) {
  static const auto op = kernels::find<Gather>("heddle::reduce_scatter");
  return op.call(full, shard_rows, group);
}

Tensor all_reduce(const Tensor& x, const std::string& reduction, const std::string& group) {
  static const auto op = kernels::find<Reduce>("heddle::all_reduce");
  return op.call(x, reduction, group);
}

Tensor wait(const Tensor& result) {
  static const auto op = kernels::find<Tensor(const Tensor&)>("heddle::wait");
  return op.call(result);
}

void on_next_end(std::function<void()> ended) { next_end = std::move(ended); }

}  // namespace heddle::runtime
