// A run that a batch system runs. While its job waits, and its hosts are in reach, the reason of
// the run's Link has the queue's words: "waits in train for free nodes; position 3".
#pragma once

namespace heddle::storage {

/// In a run's environment: the job's number, as text.
inline constexpr const char* kJob = "job";

}  // namespace heddle::storage
