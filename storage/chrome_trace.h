// Timelines as Chrome trace JSON, which Perfetto and chrome://tracing open: a process a rank, a
// thread a stream. Events of a thread may not overlap there: readers move their ends. So a stream
// has further threads for spans that do, "communication 2" and so on. The one writer of it.
#pragma once

#include <cstddef>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/telemetry/record.h"

namespace heddle::storage {

class ChromeTrace {
 public:
  static constexpr size_t kStreams = 4;

  /// `out` outlives it.
  explicit ChromeTrace(std::ostream& out);

  /// Names a process and its streams.
  void add_process(int64_t process, const std::string& name);
  /// `at_us`: the step's begin on the trace's clock. A span that ends before it begins has no
  /// length. Its thread's number is the stream, plus kStreams for each further thread.
  void add(int64_t process, const telemetry::Span& span, int64_t step, double at_us);
  /// Memory over that step by its uses: a track of the process.
  void add_memory(int64_t process, const std::vector<telemetry::MemoryMoment>& moments,
                  double at_us);
  /// Ends the file; nothing may be added after it.
  void end();

 private:
  void put(std::string_view event);
  size_t thread_of(int64_t process, size_t stream, double begin, double end);

  std::ostream& out_;
  std::map<std::pair<int64_t, size_t>, std::vector<double>> ends_;  // of a stream's threads
  bool first_ = true;
};

}  // namespace heddle::storage
