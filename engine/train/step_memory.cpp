#include "engine/train/step_memory.h"

#include <algorithm>

namespace heddle::train {
namespace {

constexpr size_t kMaxOfStep = 250;  // moments in a record: fewer bytes than its spans

struct Ran {
  int64_t begin_us = -1, end_us = -1;  // below 0: it has no span of its own
};

/// By node.
std::vector<Ran> times_of(const std::vector<telemetry::Span>& spans, size_t nodes) {
  std::vector<Ran> times(nodes);
  for (const telemetry::Span& span : spans)
    if (span.stream == telemetry::kCompute && span.node >= 0 &&
        static_cast<size_t>(span.node) < nodes)
      times[static_cast<size_t>(span.node)] = {span.start_us, span.start_us + span.duration_us};
  return times;
}

}  // namespace

StepMemory::StepMemory(const runtime::Program& program, const std::vector<holdings::State>& states)
    : use_(cost::memory_use(program.graph, program.memory, states, 0)) {}

std::vector<plan::MemoryMoment> StepMemory::moments(
    const std::vector<telemetry::Span>& spans,
    const std::vector<runtime::MemorySample>& samples) const {
  std::vector<plan::MemoryMoment> moments;
  if (samples.empty()) return moments;
  const std::vector<plan::MemoryBytes>& planned = use_.at_node;
  const std::vector<Ran> times = times_of(spans, planned.size());
  const size_t every = planned.size() / kMaxOfStep + 1;
  auto sample = samples.begin();
  int64_t now = 0;
  for (size_t first = 0; first < planned.size(); first += every) {
    const size_t end = std::min(first + every, planned.size());
    const int64_t begin = std::max(now, times[first].begin_us);
    plan::MemoryMoment most;
    for (size_t i = first; i < end; ++i) {
      // The sample after this node, or the last one.
      while (sample + 1 != samples.end() && static_cast<size_t>(sample->node) < i) ++sample;
      plan::MemoryBytes here = planned[i];
      here[plan::Category::other] += std::max<int64_t>(0, sample->bytes - use_.peak_bytes);
      if (i == first || here.total() > most.bytes.total()) most = {begin, here};
      now = std::max(now, times[i].end_us);
    }
    moments.push_back(most);
  }
  return moments;
}

}  // namespace heddle::train
