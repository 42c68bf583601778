// Prints a run's progress for `train` while it goes on, from the logs in its run directory.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/launch/run_logs.h"
#include "engine/telemetry/lines.h"

namespace heddle::launch {

/// Errors alone; lines on stderr; or every event as a line of JSON on stdout, where train's last
/// line comes after them.
enum class Tell : uint8_t { quiet, lines, json };

/// Which steps get a line: the first, the last, those that were validated or are not finite, the
/// first after a warning; and of the others at most two a second on a terminal, elsewhere one of
/// every steps / 25.
class StepLines {
 public:
  StepLines(bool terminal, int64_t steps);

  /// Whether to print the step that has just ended. `now`: seconds of any clock.
  bool tells(const telemetry::Step& step, double now);
  /// Makes the next step print.
  void warned() { due_ = true; }

 private:
  bool terminal_;
  int64_t steps_, every_;
  bool due_ = true;
  double told_ = 0;
};

/// The event as one line of JSON: {"event": "start" | "step" | "log" | "end", "rank", "time", …}.
/// Figures that are not finite are null.
std::string json_line(const LogEntry& entry);

/// Prints one attempt, on a thread of its own that takes no signals, until it is destroyed; prints
/// all that the ranks have logged by then first.
class Teller {
 public:
  struct Options {
    Tell tell = Tell::quiet;
    std::string run_dir;
    int32_t epoch = 0;
    int64_t steps = 0;  // of the whole run; 0: not known
  };

  explicit Teller(Options options);
  ~Teller();
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;

 private:
  void work();
  void look();
  void tell(const LogEntry& entry);
  void tell_step(const telemetry::Step& step);

  Options options_;
  RunLogs logs_;
  StepLines step_lines_;
  telemetry::Pace pace_;
  std::optional<telemetry::Step> untold_;  // the newest step, if it got no line
  bool failed_ = false;                    // the logs cannot be read: told once

  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

/// One line in the same form, from the launcher itself.
void tell_line(Tell tell, telemetry::Level level, const std::string& text);

}  // namespace heddle::launch
