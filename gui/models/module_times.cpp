#include "gui/models/module_times.h"

#include <string_view>
#include <unordered_map>

namespace heddle::gui {
namespace {

constexpr uint8_t kCompute = 0, kOptimizer = 2;  // of a span's stream, and of its phase
constexpr double kUntold = 0.2;  // if more is whole layers, modules cannot be separated

/// "attention.wq" of "layers.3.attention.wq"; nothing of a whole layer, or of a whole micro-batch.
std::string_view withoutLayer(std::string_view module) {
  constexpr std::string_view kLayers = "layers.";
  if (module.starts_with("micro-batch")) return {};
  if (!module.starts_with(kLayers)) return module;
  const size_t dot = module.find('.', kLayers.size());
  return dot == std::string_view::npos ? std::string_view() : module.substr(dot + 1);
}

}  // namespace

std::map<std::string, double> moduleTimes(const std::vector<plan::RankTimeline>& timelines) {
  std::unordered_map<std::string_view, int64_t> microseconds;
  for (const plan::RankTimeline& rank : timelines)
    for (const telemetry::Span& span : rank.spans)
      if (span.stream == kCompute && span.phase != kOptimizer)
        microseconds[withoutLayer(span.module)] += span.duration_us;
  double all = 0;
  for (const auto& [module, time] : microseconds) all += static_cast<double>(time);
  std::map<std::string, double> seconds;
  if (static_cast<double>(microseconds[{}]) > kUntold * all) return seconds;
  for (const auto& [module, time] : microseconds)
    if (!module.empty()) seconds.emplace(module, static_cast<double>(time) * 1e-6);
  return seconds;
}

}  // namespace heddle::gui
