// A run that a batch system runs. While its job waits, the run's Link has the queue's words, "waits
// in train for free nodes; position 3": its state is then waiting, and the words are its cause.
#pragma once

namespace heddle::storage {

/// In a run's environment: the job's number, as text.
inline constexpr const char* kJob = "job";

}  // namespace heddle::storage
