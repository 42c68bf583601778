#include "storage/chrome_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace heddle::storage {
namespace {

using nlohmann::json;

constexpr std::array<const char*, ChromeTrace::kStreams> kStreamNames = {
    "compute", "communication", "waiting for ranks", "pipeline bubble"};
constexpr size_t kMaxThreads = 64;  // of a stream; what more overlaps shares the last one
constexpr std::array kPhases = {"forward", "backward", "optimizer"};

template <typename T, size_t N>
std::string name_in(const std::array<T, N>& names, size_t index) {
  return index < N ? std::string(names[index]) : std::to_string(index);
}

json named(const char* what, int64_t process, size_t stream, const std::string& name) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", process}, {"tid", stream}, {"args", {{"name", name}}}};
}

}  // namespace

ChromeTrace::ChromeTrace(std::ostream& out) : out_(out) {
  out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
}

void ChromeTrace::put(std::string_view event) {
  out_ << (first_ ? "\n" : ",\n") << event;
  first_ = false;
}

void ChromeTrace::add_process(int64_t process, const std::string& name) {
  put(json_text(named("process_name", process, 0, name)));
  for (size_t stream = 0; stream < kStreams; ++stream)
    put(json_text(named("thread_name", process, stream, kStreamNames[stream])));
}

/// The first of the stream's threads that is free at this time.
size_t ChromeTrace::thread_of(int64_t process, size_t stream, double begin, double end) {
  std::vector<double>& ends = ends_[{process, stream}];
  const auto free = std::ranges::find_if(ends, [&](double busy) { return busy <= begin; });
  auto thread = static_cast<size_t>(free - ends.begin());
  if (free != ends.end()) {
    *free = end;
  } else if (ends.size() < kMaxThreads) {
    ends.push_back(end);
    if (thread > 0)
      put(json_text(named("thread_name", process, stream + thread * kStreams,
                          name_in(kStreamNames, stream) + " " + std::to_string(thread + 1))));
  } else {
    ends.back() = std::max(ends.back(), end);
    thread = kMaxThreads - 1;
  }
  return stream + thread * kStreams;
}

void ChromeTrace::add(int64_t process, const telemetry::Span& span, int64_t step, double at_us) {
  const std::string phase = name_in(kPhases, span.phase);
  const double begin = std::round(at_us) + static_cast<double>(span.start_us);
  const int64_t duration = std::max<int64_t>(span.duration_us, 0);
  const size_t stream = std::min<size_t>(span.stream, kStreams - 1);
  const size_t thread = thread_of(process, stream, begin, begin + static_cast<double>(duration));
  put(json_text(json{{"ph", "X"},
                     {"name", span.name},
                     {"cat", phase},
                     {"pid", process},
                     {"tid", thread},
                     {"ts", begin},
                     {"dur", duration},
                     {"args", {{"module", span.module}, {"phase", phase}, {"step", step}}}}));
}

void ChromeTrace::add_memory(int64_t process, const std::vector<telemetry::MemoryMoment>& moments,
                             double at_us) {
  for (const telemetry::MemoryMoment& moment : moments) {
    json uses;
    for (size_t i = 0; i < telemetry::kCategories; ++i)
      uses[telemetry::kCategoryNames[i]] = moment.bytes.bytes[i];
    put(json_text(json{{"ph", "C"},
                       {"name", "memory"},
                       {"pid", process},
                       {"ts", std::round(at_us) + static_cast<double>(moment.time_us)},
                       {"args", uses}}));
  }
}

void ChromeTrace::end() { out_ << "\n]}\n"; }

}  // namespace heddle::storage
