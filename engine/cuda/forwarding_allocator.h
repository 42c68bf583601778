// LibTorch's allocator for GPUs, handed on call by call: a base to change one of them.
#pragma once

#include <c10/cuda/CUDACachingAllocator.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace heddle::cuda {

namespace caching = c10::cuda::CUDACachingAllocator;

class ForwardingAllocator : public caching::CUDAAllocator {
 protected:
  using Index = c10::DeviceIndex;
  using Pool = c10::MempoolId_t;
  caching::CUDAAllocator& next_;

 public:
  explicit ForwardingAllocator(caching::CUDAAllocator& next) : next_(next) {}

  c10::DataPtr allocate(size_t bytes) override { return next_.allocate(bytes); }
  c10::DeleterFnPtr raw_deleter() const override { return next_.raw_deleter(); }
  bool is_simple_data_ptr(const c10::DataPtr& data) const override {
    return next_.is_simple_data_ptr(data);
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    next_.copy_data(to, from, bytes);
  }
  void* raw_alloc(size_t bytes) override { return next_.raw_alloc(bytes); }
  void* raw_alloc_with_stream(size_t bytes, cudaStream_t stream) override {
    return next_.raw_alloc_with_stream(bytes, stream);
  }
  void raw_delete(void* address) override { next_.raw_delete(address); }

  void init(int devices) override { next_.init(devices); }
  bool initialized() override { return next_.initialized(); }
  void enable(bool value) override { next_.enable(value); }
  bool isEnabled() const override { return next_.isEnabled(); }
  std::string name() override { return next_.name(); }

  double getMemoryFraction(Index device) override { return next_.getMemoryFraction(device); }
  void setMemoryFraction(double fraction, Index device) override {
    next_.setMemoryFraction(fraction, device);
  }
  std::vector<caching::StreamSegmentSize> getExpandableSegmentSizes(Index device) override {
    return next_.getExpandableSegmentSizes(device);
  }
  void cacheInfo(Index device, size_t* largest) override { next_.cacheInfo(device, largest); }
  void* getBaseAllocation(void* address, size_t* bytes) override {
    return next_.getBaseAllocation(address, bytes);
  }
  std::pair<size_t, size_t> getMemoryInfo(Index device) override {
    return next_.getMemoryInfo(device);
  }
  void emptyCache(Pool pool) override { next_.emptyCache(pool); }
  using CUDAAllocator::recordStream;
  void recordStream(const c10::DataPtr& data, c10::cuda::CUDAStream stream) override {
    next_.recordStream(data, stream);
  }

  caching::DeviceStats getDeviceStats(Index device) override {
    return next_.getDeviceStats(device);
  }
  void resetAccumulatedStats(Index device) override { next_.resetAccumulatedStats(device); }
  void resetPeakStats(Index device) override { next_.resetPeakStats(device); }
  caching::SnapshotInfo snapshot(Pool pool, bool include_traces) override {
    return next_.snapshot(pool, include_traces);
  }

  void beginAllocateToPool(Index device, Pool pool,
                           std::function<bool(cudaStream_t)> filter) override {
    next_.beginAllocateToPool(device, pool, std::move(filter));
  }
  void endAllocateToPool(Index device, Pool pool) override {
    next_.endAllocateToPool(device, pool);
  }
  void releasePool(Index device, Pool pool) override { next_.releasePool(device, pool); }
  int getPoolUseCount(Index device, Pool pool) override {
    return next_.getPoolUseCount(device, pool);
  }
  void createOrIncrefPool(Index device, Pool pool,
                          std::shared_ptr<caching::CUDAAllocator> allocator) override {
    next_.createOrIncrefPool(device, pool, std::move(allocator));
  }
  void setUseOnOOM(Index device, Pool pool, bool use) override {
    next_.setUseOnOOM(device, pool, use);
  }
  void setNoSplit(Index device, Pool pool) override { next_.setNoSplit(device, pool); }
  bool checkPoolLiveAllocations(Index device, Pool pool,
                                const std::unordered_set<void*>& expected) override {
    return next_.checkPoolLiveAllocations(device, pool, expected);
  }

  caching::ShareableHandle shareIpcHandle(void* address) override {
    return next_.shareIpcHandle(address);
  }
  std::shared_ptr<void> getIpcDevPtr(std::string handle) override {
    return next_.getIpcDevPtr(std::move(handle));
  }

  bool isHistoryEnabled() override { return next_.isHistoryEnabled(); }
  void recordHistory(bool enabled, caching::CreateContextFn context, size_t entries,
                     caching::RecordContext when, bool clear,
                     const std::vector<std::string>& skip) override {
    next_.recordHistory(enabled, context, entries, when, clear, skip);
  }
  void recordAnnotation(const std::vector<std::pair<std::string, std::string>>& data) override {
    next_.recordAnnotation(data);
  }
  void pushCompileContext(std::string& context) override { next_.pushCompileContext(context); }
  void popCompileContext() override { next_.popCompileContext(); }
  void setUserMetadata(const std::string& metadata) override { next_.setUserMetadata(metadata); }
  std::string getUserMetadata() override { return next_.getUserMetadata(); }
  void attachOutOfMemoryObserver(caching::OutOfMemoryObserver observer) override {
    next_.attachOutOfMemoryObserver(std::move(observer));
  }
  void attachAllocatorTraceTracker(caching::AllocatorTraceTracker tracker) override {
    next_.attachAllocatorTraceTracker(std::move(tracker));
  }

  void enablePeerAccess(Index device, Index peer) override { next_.enablePeerAccess(device, peer); }
  cudaError_t memcpyAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                          cudaStream_t stream, bool peer_access) override {
    return next_.memcpyAsync(to, to_device, from, from_device, bytes, stream, peer_access);
  }
  std::shared_ptr<caching::AllocatorState> getCheckpointState(Index device, Pool pool) override {
    return next_.getCheckpointState(device, pool);
  }
  caching::CheckpointDelta setCheckpointPoolState(
      Index device, std::shared_ptr<caching::AllocatorState> state) override {
    return next_.setCheckpointPoolState(device, std::move(state));
  }
};

}  // namespace heddle::cuda
