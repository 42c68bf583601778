// Graphs: made by recording streams, launched as one.
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>

#include "streams.h"

namespace fake {
namespace {

// Work that is under way goes on when its graph is destroyed.
using Launched = std::shared_ptr<Graph>;

void end_capture(Capture& capture) {
  for (Stream* stream : capture.streams) {
    stream->capture.reset();
    stream->tail.clear();
  }
  std::erase_if(streams().captures, [&](const auto& each) { return each.get() == &capture; });
}

// Whether every node comes before the origin's end.
bool is_joined(const Capture& capture) {
  std::vector<bool> reached(capture.graph.nodes.size());
  std::vector<int> open = capture.origin->tail;
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    if (reached[node]) continue;
    reached[node] = true;
    const std::vector<int>& after = capture.graph.nodes[node].after;
    open.insert(open.end(), after.begin(), after.end());
  }
  return std::ranges::all_of(reached, [](bool each) { return each; });
}

/// "graph flags 8, priorities 0 x 210, -5 x 12, collectives -5 x 12"
void note_graph(const Graph& graph, unsigned long long flags) {
  std::map<int, int> all, collectives;
  for (const Graph::Node& node : graph.nodes) {
    ++all[node.priority];
    if (node.waits) ++collectives[node.priority];
  }
  const auto text = [](const std::map<int, int>& counts) {
    std::string words;
    for (const auto& [priority, nodes] : counts)
      words += " " + std::to_string(priority) + " x " + std::to_string(nodes);
    return words;
  };
  note("graph flags %llu, priorities%s, collectives%s", flags, text(all).c_str(),
       text(collectives).c_str());
}

}  // namespace

void Graph::run() const {
  const bool parallel = std::ranges::any_of(nodes, [](const Node& node) { return node.waits; });
  if (!parallel) {
    for (const Node& node : nodes) node.work();
    return;
  }
  std::vector<bool> done(nodes.size());
  const auto run_branch = [&](int branch) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].branch != branch) continue;
      {
        Lock lock(state());
        wait_until(lock, [&] {
          return std::ranges::all_of(nodes[i].after, [&](int each) { return done[each]; });
        });
      }
      if (!broken()) nodes[i].work();
      const Lock lock(state());
      done[i] = true;
      changed().notify_all();
    }
  };
  std::vector<std::thread> threads;
  for (int branch = 1; branch < branches; ++branch) threads.emplace_back(run_branch, branch);
  run_branch(0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace fake

using namespace fake;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  FAKE_CALL("cudaStreamBeginCapture");
  const Lock lock(state());
  Stream& origin = stream_of(stream);
  if (&origin == &streams().legacy) return end_call(cudaErrorStreamCaptureUnsupported);
  if (origin.capture) return end_call(cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>();
  capture->id = ++streams().captured;
  capture->thread = std::this_thread::get_id();
  capture->mode = mode;
  capture->origin = &origin;
  streams().captures.push_back(capture);
  join_capture(origin, capture);
  note("capture begins");
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const cudaError_t begun = begin_call("cudaStreamEndCapture");
  const Lock lock(state());
  *graph = nullptr;
  const std::shared_ptr<Capture> capture = stream_of(stream).capture;
  if (!capture || capture->origin != &stream_of(stream))
    return end_call(cudaErrorStreamCaptureUnmatched);
  if (capture->thread != std::this_thread::get_id() &&
      capture->mode != cudaStreamCaptureModeRelaxed)
    return end_call(cudaErrorStreamCaptureWrongThread);
  const bool joined = is_joined(*capture);
  end_capture(*capture);
  note("capture ends, %zu nodes", capture->graph.nodes.size());
  if (begun != cudaSuccess) return end_call(begun);
  if (!capture->valid) return end_call(cudaErrorStreamCaptureInvalidated);
  if (!joined) return end_call(cudaErrorStreamCaptureUnjoined);
  capture->graph.branches = static_cast<int>(capture->streams.size());
  *graph = reinterpret_cast<cudaGraph_t>(new Graph(std::move(capture->graph)));
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const Lock lock(state());
  const auto& capture = stream_of(stream).capture;
  *status = !capture         ? cudaStreamCaptureStatusNone
            : capture->valid ? cudaStreamCaptureStatusActive
                             : cudaStreamCaptureStatusInvalidated;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t*, const cudaGraphNode_t**,
                                     const cudaGraphEdgeData**, size_t* count) {
  cudaStreamIsCapturing(stream, status);
  const Lock lock(state());
  const auto& capture = stream_of(stream).capture;
  if (id && capture) *id = capture->id;
  if (count) *count = 0;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* launched, cudaGraph_t graph,
                                 unsigned long long flags) {
  FAKE_CALL("cudaGraphInstantiate");
  note_graph(*reinterpret_cast<Graph*>(graph), flags);
  *launched = reinterpret_cast<cudaGraphExec_t>(
      new Launched(std::make_shared<Graph>(*reinterpret_cast<Graph*>(graph))));
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* launched, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(launched, graph, flags);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete reinterpret_cast<Graph*>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete reinterpret_cast<Launched*>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  const Fate fate = fate_of("cudaGraphLaunch", false);
  if (fate.error) return end_call(static_cast<cudaError_t>(fate.error));
  note("launch");
  const Launched work = *reinterpret_cast<Launched*>(graph);
  const bool waits =
      fate.stalls || std::ranges::any_of(work->nodes, [](const auto& node) { return node.waits; });
  return end_call(put(
      stream,
      [work, stalls = fate.stalls] {
        while (stalls && !broken()) usleep(10'000);
        work->run();
      },
      waits));
}

}  // extern "C"
