// Streams, events and graphs. A stream does its work in order: at once on the caller's thread where
// nothing is waiting before it, else on a thread of its own. What captures records it instead.
//
// Thread contract: any thread.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "faults.h"

namespace fake {

using Work = std::function<void()>;

/// Work as a graph: each node begins when those that it comes after have ended.
struct Graph {
  struct Node {
    Work work;
    bool waits = false;  // for others: a collective
    int branch = 0;      // the stream that it was captured from
    int priority = 0;    // that stream's; the lower, the sooner
    std::vector<int> after;
  };
  std::vector<Node> nodes;
  int branches = 0;

  void run() const;
};

struct Stream;

/// A recording under way.
struct Capture {
  unsigned long long id = 0;
  std::thread::id thread;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  Stream* origin = nullptr;
  std::vector<Stream*> streams;
  Graph graph;
  bool valid = true;
};

/// One record of an event; what waits for it keeps it.
struct Mark {
  bool done = false;
  double milliseconds = 0;  // of the clock, and `pace` with them
  double pace = 0;
};

struct Event {
  std::shared_ptr<Mark> mark;        // of the newest record; null: none
  std::shared_ptr<Capture> capture;  // that record is captured: in this one,
  std::vector<int> nodes;            // behind these
};

struct Stream {
  int priority = 0;
  std::deque<Work> queue;
  bool busy = false;
  bool has_thread = false;
  std::shared_ptr<Capture> capture;
  int branch = 0;
  std::vector<int> tail;  // in a capture: what its next node comes after
  double pace = 0;        // milliseconds that its work has taken by its events alone
};

struct Streams {
  std::set<Stream*> all;
  Stream legacy;
  std::vector<std::shared_ptr<Capture>> captures;
  unsigned long long captured = 0;
};
/// This process's. A thread that looks at them, or at events and captures, holds `state`; `changed`
/// signals that something has ended.
Streams& streams();
std::mutex& state();
std::condition_variable& changed();

using Lock = std::unique_lock<std::mutex>;

/// Until `done`, or the device is broken: then its error.
template <typename Done>
cudaError_t wait_until(Lock& lock, Done done) {
  while (!done()) {
    if (const int error = broken()) return static_cast<cudaError_t>(error);
    changed().wait_for(lock, std::chrono::milliseconds(20));
  }
  return static_cast<cudaError_t>(broken());
}

Stream& stream_of(cudaStream_t handle);

/// Puts work in a stream. `waits`: it may wait for other streams or processes.
cudaError_t put(cudaStream_t stream, Work work, bool waits = false);

/// Called while a stream's work is done: so much of it takes its time by the stream's events,
/// though not by the clock, at a pace that the environment variable says in units of 1e9 a second;
/// without that it takes none. Branches of a graph have no pace.
void take(const char* pace, double amount);
/// The stream whose work this thread does; null: none.
Stream* stream_at_work();

bool is_capturing(cudaStream_t stream);
/// A call that a capture does not allow has been made: it gives no graph.
cudaError_t spoil(Capture& capture, const char* call);
/// A stream that waits for one which is captured is captured, too.
void join_capture(Stream& stream, const std::shared_ptr<Capture>& capture);
/// For calls that a capture of this thread, or a global one, does not allow: the error, which
/// spoils the capture.
cudaError_t unless_captured(const char* call);
/// Whether this thread records.
bool this_thread_captures();

/// Returns when all of a stream's work has ended, or the device is broken.
cudaError_t drain(Stream& stream);

/// Beginning and end of a call: its fate, and the error that cudaGetLastError tells.
cudaError_t begin_call(const char* call);
cudaError_t end_call(cudaError_t error);

}  // namespace fake

/// The first line of a call.
#define FAKE_CALL(name)                                                       \
  if (const cudaError_t begun = fake::begin_call(name); begun != cudaSuccess) \
  return fake::end_call(begun)
