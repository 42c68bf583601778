// Which bucket a span is of.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/plan/document.h"

namespace heddle::workbench {

/// Names of what is of no bucket.
inline constexpr const char* kOtherCompute = "compute outside buckets";
inline constexpr const char* kOtherTransfers = "transfers outside buckets";
inline constexpr const char* kPipeline = "pipeline bubble";

class BucketNames {
 public:
  BucketNames() = default;
  /// Names and modules of `buckets` are looked at.
  explicit BucketNames(const std::vector<plan::BucketFigures>& buckets);

  /// A transfer's bucket is its module; compute is of the bucket that has its module or one around
  /// it.
  std::string of(const telemetry::Span& span) const;
  bool empty() const { return by_module_.empty(); }

 private:
  std::map<std::string, std::string, std::less<>> by_module_;  // buckets by their own names, too
};

}  // namespace heddle::workbench
