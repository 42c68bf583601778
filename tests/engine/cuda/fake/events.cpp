// Events: marks that a stream makes when it gets there.
#include <algorithm>

#include "streams.h"

namespace {

double now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The stream has reached it.
void set_done(const std::shared_ptr<fake::Mark>& mark) {
  const fake::Lock lock(fake::state());
  const fake::Stream* stream = fake::stream_at_work();
  mark->done = true;
  mark->pace = stream ? stream->pace : 0;
  mark->milliseconds = now() + mark->pace;
  fake::changed().notify_all();
}

}  // namespace

using namespace fake;

extern "C" {

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  FAKE_CALL("cudaStreamWaitEvent");
  std::shared_ptr<Mark> mark;
  bool waits_for_it = false;
  {
    const Lock lock(state());
    Stream& waits = stream_of(stream);
    const auto& from = *reinterpret_cast<Event*>(event);
    if (from.capture) {
      if (waits.capture && waits.capture != from.capture) {
        spoil(*waits.capture, "wait for another recording");
        return end_call(cudaErrorStreamCaptureMerge);
      }
      if (std::ranges::find(streams().captures, from.capture) == streams().captures.end())
        return end_call(cudaErrorCapturedEvent);
      join_capture(waits, from.capture);
      for (const int node : from.nodes)
        if (std::ranges::find(waits.tail, node) == waits.tail.end()) waits.tail.push_back(node);
      return cudaSuccess;
    }
    if (!from.mark) return cudaSuccess;
    if (waits.capture) {
      spoil(*waits.capture, "wait for what is not recorded");
      return end_call(cudaErrorStreamCaptureIsolation);
    }
    mark = from.mark;
    waits_for_it = !mark->done;
  }
  return end_call(put(
      stream,
      [mark] {
        Lock lock(state());
        wait_until(lock, [&] { return mark->done; });
        Stream* waits = stream_at_work();
        if (waits) waits->pace = std::max(waits->pace, mark->pace);
      },
      waits_for_it));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  FAKE_CALL("cudaEventCreateWithFlags");
  *event = reinterpret_cast<cudaEvent_t>(new Event());
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  FAKE_CALL("cudaEventDestroy");
  delete reinterpret_cast<Event*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  FAKE_CALL("cudaEventRecord");
  auto& record = *reinterpret_cast<Event*>(event);
  {
    const Lock lock(state());
    Stream& from = stream_of(stream);
    if (from.capture && !(flags & cudaEventRecordExternal)) {
      record = {nullptr, from.capture, from.tail};
      return cudaSuccess;
    }
  }
  if (is_capturing(stream))  // each launch records it again
    return end_call(put(stream, [&record] {
      auto mark = std::make_shared<Mark>();
      {
        const Lock lock(state());
        record = {mark, nullptr, {}};
      }
      set_done(mark);
    }));
  auto mark = std::make_shared<Mark>();
  {
    const Lock lock(state());
    record = {mark, nullptr, {}};
  }
  return end_call(put(stream, [mark] { set_done(mark); }));
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  FAKE_CALL("cudaEventQuery");
  const Lock lock(state());
  const auto& asked = *reinterpret_cast<Event*>(event);
  if (asked.capture) {
    spoil(*asked.capture, "cudaEventQuery");
    return end_call(cudaErrorCapturedEvent);
  }
  return !asked.mark || asked.mark->done ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  FAKE_CALL("cudaEventSynchronize");
  note("waits for an event");
  Lock lock(state());
  const auto& asked = *reinterpret_cast<Event*>(event);
  if (asked.capture) {
    spoil(*asked.capture, "cudaEventSynchronize");
    return end_call(cudaErrorCapturedEvent);
  }
  const std::shared_ptr<Mark> mark = asked.mark;
  return end_call(wait_until(lock, [&] { return !mark || mark->done; }));
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  FAKE_CALL("cudaEventElapsedTime");
  const Lock lock(state());
  const auto &from = *reinterpret_cast<Event*>(begin), &to = *reinterpret_cast<Event*>(end);
  if (!from.mark || !to.mark) return end_call(cudaErrorInvalidResourceHandle);
  if (!from.mark->done || !to.mark->done) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(to.mark->milliseconds - from.mark->milliseconds);
  return cudaSuccess;
}

}  // extern "C"
