#include "workbench/bucket_names.h"

#include <string_view>

namespace heddle::workbench {

BucketNames::BucketNames(const std::vector<plan::BucketFigures>& buckets) {
  for (const plan::BucketFigures& bucket : buckets) {
    by_module_[bucket.name] = bucket.name;
    for (const std::string& module : bucket.modules) by_module_[module] = bucket.name;
  }
}

std::string BucketNames::of(const telemetry::Span& span) const {
  if (span.stream == telemetry::kBubble) return kPipeline;
  if (span.stream != telemetry::kCompute) {
    const auto found = by_module_.find(span.module);
    return found != by_module_.end() && found->second == span.module ? span.module
                                                                     : kOtherTransfers;
  }
  for (std::string_view module = span.module; !module.empty();) {
    if (const auto found = by_module_.find(module); found != by_module_.end()) return found->second;
    const size_t dot = module.rfind('.');
    module = dot == std::string_view::npos ? std::string_view() : module.substr(0, dot);
  }
  return kOtherCompute;
}

}  // namespace heddle::workbench
