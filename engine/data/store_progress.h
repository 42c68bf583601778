// How far a store is that is being built: told by its builder, read by whoever wants to know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::data {

struct StoreProgress {
  int64_t tokens = 0;
  int64_t documents = 0;
  int64_t skipped = 0;
  int64_t bytes = 0;          // of text, read
  double share = 0;           // of the files' bytes
  double bytes_a_second = 0;  // of text, since this builder began
  double seconds_left = 0;    // at that rate
};

/// For others, in the store's folder.
void keep_progress(const std::string& folder, const StoreProgress& progress);
/// None: nobody builds it, or has just begun.
std::optional<StoreProgress> read_progress(const std::string& folder);
void forget_progress(const std::string& folder);

/// "1,234,567 tokens of 312.0 MiB, 27.0 MiB/s, 25.0 s left".
std::string progress_text(const StoreProgress& progress);

}  // namespace heddle::data
