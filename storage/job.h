// In a run's environment, of one that a batch system runs.
#pragma once

namespace heddle::storage {

/// The job's number, as text.
inline constexpr const char* kJob = "job";
/// The job in the queue, in words: "waits in train for free nodes; position 3"; "over".
inline constexpr const char* kJobState = "job_state";

}  // namespace heddle::storage
