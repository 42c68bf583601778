#include "engine/cuda/staged_backend.h"

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAGuard.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/cuda/nccl_backend.h"

namespace heddle::cuda {
namespace {

std::atomic<int> groups = 0;

using Tensors = StagedBackend::Tensors;

Tensors pinned_like(const Tensors& tensors) {
  Tensors copies;
  for (const at::Tensor& each : tensors)
    copies.push_back(at::empty(each.sizes(), each.options().device(c10::kCPU).pinned_memory(true)));
  return copies;
}

void copy(const Tensors& to, const Tensors& from) {
  for (size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i], /*non_blocking=*/true);
}

// When the caller's stream has written what a collective reads, and when its results are back.
struct Marks {
  at::cuda::CUDAEvent ready, done;
};

class StagedWork final : public c10d::Work {
 public:
  StagedWork(int rank, c10d::OpType type, std::shared_ptr<Marks> marks,
             std::shared_future<void> result)
      : Work(rank, type), marks_(std::move(marks)), result_(std::move(result)) {}

  bool isCompleted() override {
    return result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  bool wait(std::chrono::milliseconds) override {
    synchronize();
    return true;
  }
  void synchronize() override {
    result_.get();
    marks_->done.block(c10::cuda::getCurrentCUDAStream());
  }

 private:
  std::shared_ptr<Marks> marks_;
  std::shared_future<void> result_;
};

}  // namespace

// A thread that does one job after the other; what is left when it ends is done first.
class StagedBackend::Queue {
 public:
  Queue() : thread_([this] { work(); }) {}
  ~Queue() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  std::shared_future<void> add(std::function<void()> job) {
    std::packaged_task<void()> task(std::move(job));
    std::shared_future<void> result = task.get_future().share();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
    return result;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      std::packaged_task<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool ends_ = false;
  std::thread thread_;
};

StagedBackend::StagedBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                             const transport::GroupOptions& options)
    : Backend(rank, size), host_(store, rank, size, options), queue_(std::make_unique<Queue>()) {
  ++groups;
}

StagedBackend::~StagedBackend() {
  queue_.reset();
  --groups;
}

bool StagedBackend::any() { return groups > 0; }

template <typename Run>
StagedBackend::Work StagedBackend::submit(c10d::OpType type, const Tensors& from, const Tensors& to,
                                          Run run) {
  auto marks = std::make_shared<Marks>();
  marks->ready.record(c10::cuda::getCurrentCUDAStream());
  auto result = queue_->add([this, marks, from, to, run = std::move(run), times = take_times(),
                             label = transport::take_label()]() mutable {
    const c10::cuda::CUDAStreamGuard guard(stream_.get());
    marks->ready.block(stream_.get());
    if (times.begin) times.begin->record(stream_.get());
    Tensors sources = pinned_like(from), results = pinned_like(to);
    copy(sources, from);
    stream_.get().synchronize();
    transport::label_next_collective(label);
    run(sources, results)->wait();
    copy(to, results);
    if (times.end) times.end->record(stream_.get());
    marks->done.record(stream_.get());
    // Lets go of the tensors that it has staged in.
    stream_.get().synchronize();
  });
  return c10::make_intrusive<StagedWork>(getRank(), type, std::move(marks), std::move(result));
}

StagedBackend::Work StagedBackend::allgather_into_tensor_coalesced(Tensors& outputs,
                                                                   Tensors& inputs,
                                                                   const c10d::AllgatherOptions&) {
  return submit(c10d::OpType::ALLGATHER, inputs, outputs, [this](Tensors& from, Tensors& to) {
    return host_.allgather_into_tensor_coalesced(to, from);
  });
}

StagedBackend::Work StagedBackend::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) {
  return submit(c10d::OpType::REDUCE_SCATTER, inputs, outputs,
                [this, options](Tensors& from, Tensors& to) {
                  return host_.reduce_scatter_tensor_coalesced(to, from, options);
                });
}

// In place: what the host has summed is the result.
StagedBackend::Work StagedBackend::allreduce(Tensors& tensors,
                                             const c10d::AllreduceOptions& options) {
  return submit(c10d::OpType::ALLREDUCE, tensors, tensors,
                [this, options](Tensors& from, Tensors& to) {
                  to = from;
                  return host_.allreduce(to, options);
                });
}

StagedBackend::Work StagedBackend::alltoall_base(at::Tensor& output, at::Tensor& input,
                                                 std::vector<int64_t>& output_splits,
                                                 std::vector<int64_t>& input_splits,
                                                 const c10d::AllToAllOptions&) {
  return submit(c10d::OpType::ALLTOALL_BASE, {input}, {output},
                [this, output_splits, input_splits](Tensors& from, Tensors& to) mutable {
                  return host_.alltoall_base(to[0], from[0], output_splits, input_splits);
                });
}

StagedBackend::Work StagedBackend::barrier(const c10d::BarrierOptions&) {
  return submit(c10d::OpType::BARRIER, {}, {},
                [this](Tensors&, Tensors&) { return host_.barrier(); });
}

}  // namespace heddle::cuda
