// Timelines as Chrome trace JSON, which Perfetto and chrome://tracing open: a process a rank, a
// thread a stream. The one writer of it.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "engine/telemetry/record.h"

namespace heddle::storage {

class ChromeTrace {
 public:
  /// `out` outlives it.
  explicit ChromeTrace(std::ostream& out);

  /// Names a process and its streams.
  void add_process(int64_t process, const std::string& name);
  /// `at_us`: the step's begin on the trace's clock. A span that ends before it begins has no
  /// length.
  void add(int64_t process, const telemetry::Span& span, int64_t step, double at_us);
  /// Ends the file; nothing may be added after it.
  void end();

 private:
  void put(std::string_view event);

  std::ostream& out_;
  bool first_ = true;
};

}  // namespace heddle::storage
