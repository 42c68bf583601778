#include "streams.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace fake {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;
thread_local Stream* at_work = nullptr;

void run(Stream& stream, const Work& work) {
  Stream* const before = std::exchange(at_work, &stream);
  work();
  at_work = before;
}

void work_on(Stream& stream) {
  Lock lock(state());
  while (true) {
    changed().wait(lock, [&] { return !stream.queue.empty() && !stream.busy; });
    stream.busy = true;
    while (!stream.queue.empty()) {
      const Work work = std::move(stream.queue.front());
      stream.queue.pop_front();
      lock.unlock();
      if (!broken()) run(stream, work);
      lock.lock();
    }
    stream.busy = false;
    changed().notify_all();
  }
}

// Behind what the stream has recorded so far.
void add_node(Stream& stream, Work work, bool waits) {
  Graph& graph = stream.capture->graph;
  graph.nodes.push_back({std::move(work), waits, stream.branch, stream.priority, stream.tail});
  stream.tail = {static_cast<int>(graph.nodes.size()) - 1};
}

}  // namespace

Streams& streams() {
  static auto* every = new Streams();
  return *every;
}

std::mutex& state() {
  static auto* mutex = new std::mutex();
  return *mutex;
}
std::condition_variable& changed() {
  static auto* condition = new std::condition_variable();
  return *condition;
}

Stream& stream_of(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
    return streams().legacy;
  return *reinterpret_cast<Stream*>(handle);
}

cudaError_t begin_call(const char* call) {
  return static_cast<cudaError_t>(fate_of(call, this_thread_captures()).error);
}

cudaError_t end_call(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

bool this_thread_captures() {
  const Lock lock(state());
  return std::ranges::any_of(streams().captures, [](const auto& each) {
    return each->thread == std::this_thread::get_id();
  });
}

cudaError_t spoil(Capture& capture, const char* call) {
  capture.valid = false;
  note("illegal %s", call);
  return cudaErrorStreamCaptureUnsupported;
}

void join_capture(Stream& stream, const std::shared_ptr<Capture>& capture) {
  if (stream.capture == capture) return;
  stream.capture = capture;
  stream.branch = static_cast<int>(capture->streams.size());
  stream.tail.clear();
  capture->streams.push_back(&stream);
}

Stream* stream_at_work() { return at_work; }

void take(const char* pace, double amount) {
  const char* set = std::getenv(pace);
  if (set && at_work) at_work->pace += 1e3 * amount / (std::atof(set) * 1e9);
}

bool is_capturing(cudaStream_t handle) {
  const Lock lock(state());
  return stream_of(handle).capture != nullptr;
}

cudaError_t unless_captured(const char* call) {
  const Lock lock(state());
  if (thread_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  for (const auto& capture : streams().captures) {
    const bool own = capture->thread == std::this_thread::get_id();
    const bool forbids = capture->mode != cudaStreamCaptureModeRelaxed &&
                         (own || (capture->mode == cudaStreamCaptureModeGlobal &&
                                  thread_mode == cudaStreamCaptureModeGlobal));
    if (!forbids) continue;
    return spoil(*capture, call);
  }
  return cudaSuccess;
}

cudaError_t put(cudaStream_t handle, Work work, bool waits) {
  Lock lock(state());
  Stream& stream = stream_of(handle);
  if (stream.capture) {
    if (!stream.capture->valid) return cudaErrorStreamCaptureInvalidated;
    add_node(stream, std::move(work), waits);
    return cudaSuccess;
  }
  if (!waits && !stream.busy && stream.queue.empty()) {
    stream.busy = true;
    lock.unlock();
    run(stream, work);
    lock.lock();
    stream.busy = false;
    changed().notify_all();
    return cudaSuccess;
  }
  stream.queue.push_back(std::move(work));
  if (!stream.has_thread) {
    stream.has_thread = true;
    std::thread([&stream] { work_on(stream); }).detach();
  }
  changed().notify_all();
  return cudaSuccess;
}

cudaError_t drain(Stream& stream) {
  Lock lock(state());
  return wait_until(lock, [&] { return stream.queue.empty() && !stream.busy; });
}

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t error = std::exchange(last_error, cudaSuccess);
  return broken() ? static_cast<cudaError_t>(broken()) : error;
}
cudaError_t cudaPeekAtLastError() {
  return broken() ? static_cast<cudaError_t>(broken()) : last_error;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int, int priority) {
  FAKE_CALL("cudaStreamCreateWithPriority");
  auto* made = new Stream();
  made->priority = priority;
  const Lock lock(state());
  streams().all.insert(made);
  *stream = reinterpret_cast<cudaStream_t>(made);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  FAKE_CALL("cudaStreamDestroy");
  const cudaError_t drained = drain(stream_of(stream));
  const Lock lock(state());
  streams().all.erase(&stream_of(stream));  // its thread may still look at it: it stays
  return end_call(drained);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  FAKE_CALL("cudaStreamSynchronize");
  if (is_capturing(stream)) {
    const Lock lock(state());
    return end_call(spoil(*stream_of(stream).capture, "cudaStreamSynchronize"));
  }
  note("waits for a stream");
  return end_call(drain(stream_of(stream)));
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  FAKE_CALL("cudaStreamQuery");
  const Lock lock(state());
  Stream& each = stream_of(stream);
  if (each.capture) return end_call(spoil(*each.capture, "cudaStreamQuery"));
  return each.queue.empty() && !each.busy ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaDeviceSynchronize() {
  FAKE_CALL("cudaDeviceSynchronize");
  if (const cudaError_t refused = unless_captured("cudaDeviceSynchronize"); refused != cudaSuccess)
    return end_call(refused);
  Lock lock(state());
  return end_call(wait_until(lock, [] {
    const auto idle = [](const Stream& each) { return each.queue.empty() && !each.busy; };
    return idle(streams().legacy) &&
           std::ranges::all_of(streams().all, [&](const Stream* each) { return idle(*each); });
  }));
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, thread_mode);
  return cudaSuccess;
}

}  // extern "C"
