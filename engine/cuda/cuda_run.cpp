#include "engine/cuda/cuda_run.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cuda/nccl_backend.h"
#include "engine/cuda/placing_allocator.h"
#include "engine/cuda/recording.h"
#include "engine/cuda/staged_backend.h"
#include "engine/graph/error_text.h"

namespace heddle::cuda {
namespace {

namespace caching = c10::cuda::CUDACachingAllocator;
using at::cuda::CUDAEvent;

// External: in a recorded step they are marks for the host, not edges of the graph.
constexpr unsigned int kTiming = cudaEventDefault | cudaEventExternal;

// Where a piece of work began and ended.
struct Marks {
  CUDAEvent begin{kTiming}, end{kTiming};
};

class CudaStep final : public runtime::RecordedStep {
 public:
  void launch() override {
    NcclBackend::check();
    for (const auto& [group, descriptors] : collectives) group->replayed(descriptors);
    recording->launch();
  }

  std::optional<Recording> recording;
  std::vector<std::pair<NcclBackend*, std::vector<transport::Descriptor>>> collectives;
};

class CudaRun final : public runtime::DeviceRun {
 public:
  ~CudaRun() override {
    for (void* memory : registered_)
      for (NcclBackend* group : NcclBackend::all()) group->take_back_memory(memory);
  }

  void begin_times(size_t instructions) override {
    while (marks_.size() < instructions) marks_.emplace_back(std::make_unique<Marks>());
    begin_.record();
  }
  void before(size_t instruction) override { marks_[instruction]->begin.record(); }
  void after(size_t instruction) override { marks_[instruction]->end.record(); }
  void starting(size_t instruction) override {
    time_next_collective(&marks_[instruction]->begin, &marks_[instruction]->end);
  }
  void waited(size_t, const c10d::Work&) override {}

  std::optional<runtime::Interval> interval(size_t instruction) const override {
    const auto& [begin, end] = *marks_[instruction];
    if (!end.isCreated() || !end.query()) return std::nullopt;
    const int64_t begin_us = since_begin(begin), end_us = since_begin(end);
    if (end_us < begin_us || begin_us < 0) return std::nullopt;  // of a step before
    return runtime::Interval{begin_us, end_us};
  }

  // The host works in the middle of a collective that it stages.
  bool records() const override { return !StagedBackend::any(); }
  Result<std::unique_ptr<runtime::RecordedStep>> record(const std::function<void()>& step) override;

  Result<> register_memory(void* memory, size_t bytes) override {
    registered_.push_back(memory);
    for (NcclBackend* group : NcclBackend::all())
      if (auto done = group->register_memory(memory, bytes); !done) return done;
    return {};
  }

  void mark(size_t which) override { ends_.at(which).record(); }
  void wait_for(size_t which) override {
    ends_.at(which).synchronize();
    NcclBackend::check();
  }

  void give_up() override { NcclBackend::abort_all(); }

  int64_t bytes_in_use() const override { return bytes_of_device(); }
  int64_t peak_bytes() const override { return peak_of_device().allocated; }
  int64_t peak_reserved_bytes() const override { return peak_of_device().reserved; }
  std::vector<runtime::DeviceBlock> blocks() const override { return blocks_of_device(); }

  std::string name() const override { return at::cuda::getCurrentDeviceProperties()->name; }

 private:
  int64_t since_begin(const CUDAEvent& event) const {
    return std::llround(static_cast<double>(begin_.elapsed_time(event)) * 1e3);
  }

  CUDAEvent begin_{cudaEventDefault};
  std::array<CUDAEvent, 2> ends_;
  std::vector<std::unique_ptr<Marks>> marks_;  // by instruction
  std::vector<void*> registered_;
};

Result<std::unique_ptr<runtime::RecordedStep>> CudaRun::record(const std::function<void()>& step) {
  auto recorded = std::make_unique<CudaStep>();
  std::string error;
  c10::cuda::device_synchronize();
  caching::emptyCache();  // what libraries took for their first calls
  for (NcclBackend* group : NcclBackend::all()) group->begin_recording();
  try {
    recorded->recording.emplace(step);
  } catch (const std::exception& failed) {
    error = graph::error_text(failed);
  }
  for (NcclBackend* group : NcclBackend::all())
    recorded->collectives.emplace_back(group, group->end_recording());
  if (NcclBackend* ranks = NcclBackend::of_all_ranks()) {
    Result<std::string> of_all = ranks->verdict(error);
    TORCH_CHECK_WITH(DistBackendError, of_all,
                     "recording the step as a CUDA graph: ", of_all.error().message);
    error = std::move(*of_all);
  }
  if (error.empty()) return recorded;
  return fail("CUDA graph: {}", error);
}

}  // namespace

std::unique_ptr<runtime::DeviceRun> make_cuda_run() { return std::make_unique<CudaRun>(); }

}  // namespace heddle::cuda
