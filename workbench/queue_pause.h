// How often a batch system is asked for its queue.
#pragma once

#include <atomic>
#include <chrono>

namespace heddle::workbench {

/// At least so long between two looks at a queue: it serves a whole cluster. A Slurm of a test's
/// own may be asked more often. Any thread.
inline std::atomic<std::chrono::milliseconds> queue_pause{std::chrono::seconds(10)};

}  // namespace heddle::workbench
