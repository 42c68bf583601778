// The connection to the hosts of a run that is going on, as the process that follows it sees it.
#pragma once

#include <optional>
#include <string>

namespace heddle::storage {

/// Times are Unix seconds.
struct Link {
  double heard = 0;                     // the last answer of its hosts; 0: none yet
  std::optional<double> lost = {};      // since when there is no connection
  std::optional<double> next_try = {};  // of a lost one
  std::string reason = {};              // why it was lost; else: why the batch system is silent
  std::string waits = {};               // while its job waits: the queue's words (job.h)

  bool operator==(const Link&) const = default;
};

}  // namespace heddle::storage
