// What the status bar says of the run that is training now. Plain data.
#pragma once

#include <QString>
#include <optional>

#include "base/result.h"
#include "storage/queries.h"

namespace heddle::gui {

struct RunStatus {
  storage::RunId id = 0;
  QString name;
  storage::RunState state = storage::RunState::running;
  int64_t step = 0;
  int64_t steps = 0;           // 0: the recipe does not say
  double tokensPerSecond = 0;  // per rank, the newest; 0: none yet
  double stepSeconds = 0;      // mean of the last steps; 0: none yet
  int others = 0;              // how many more are running

  /// Seconds until the last step; nullopt when that cannot be told yet.
  std::optional<double> remaining() const {
    if (steps <= step || stepSeconds <= 0) return std::nullopt;
    return static_cast<double>(steps - step) * stepSeconds;
  }
};

/// The newest run that is preparing or running; nullopt: there is none.
Result<std::optional<RunStatus>> runStatus(storage::Reader& reader);

}  // namespace heddle::gui
