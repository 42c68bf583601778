#include "storage/chrome_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace heddle::storage {
namespace {

using nlohmann::json;

constexpr std::array kStreams = {"compute", "communication", "waiting for ranks",
                                 "pipeline bubble"};
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
  for (size_t stream = 0; stream < kStreams.size(); ++stream)
    put(json_text(named("thread_name", process, stream, kStreams[stream])));
}

void ChromeTrace::add(int64_t process, const telemetry::Span& span, int64_t step, double at_us) {
  const std::string phase = name_in(kPhases, span.phase);
  put(json_text(json{{"ph", "X"},
                     {"name", span.name},
                     {"cat", phase},
                     {"pid", process},
                     {"tid", span.stream},
                     {"ts", std::round(at_us) + static_cast<double>(span.start_us)},
                     {"dur", std::max<int64_t>(span.duration_us, 0)},
                     {"args", {{"module", span.module}, {"phase", phase}, {"step", step}}}}));
}

void ChromeTrace::end() { out_ << "\n]}\n"; }

}  // namespace heddle::storage
