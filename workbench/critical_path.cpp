#include "workbench/critical_path.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "workbench/step_graph.h"

namespace heddle::workbench {
namespace {

constexpr size_t kMaxHurdles = 12;
constexpr int kMaxTries = 20;
constexpr double kSame = 0.75;  // microseconds: times are whole ones

/// The step's end when every span of one name takes a share less, and the path to it.
struct Run {
  double end = 0;
  double slope = 0;                   // how much earlier per share: that name's time on the path
  std::map<int32_t, double> on_path;  // by name; −1: nothing under way
  std::vector<uint32_t> path;         // nodes from the end back to the begin
};

class Walk {
 public:
  explicit Walk(const StepGraph& graph) : graph_(graph), ends_(graph.nodes.size()) {}

  Run run(int32_t name, double share) {
    Run result;
    size_t last = 0;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const StepNode& node = graph_.nodes[i];
      ends_[i] = ready(node) + static_cast<double>(node.lag) + taken(node, name, share);
      if (ends_[i] > ends_[last]) last = i;
    }
    result.end = ends_[last];
    for (size_t i = last;;) {
      const StepNode& node = graph_.nodes[i];
      result.path.push_back(static_cast<uint32_t>(i));
      result.on_path[node.name] += taken(node, name, share);
      result.on_path[-1] += static_cast<double>(node.lag);
      if (node.name == name && name >= 0) result.slope += static_cast<double>(node.duration);
      if (node.needs == 0) break;
      i = last_need(node);
    }
    return result;
  }

 private:
  static double taken(const StepNode& node, int32_t name, double share) {
    const auto whole = static_cast<double>(node.duration);
    return node.name == name && name >= 0 ? whole * (1 - share) : whole;
  }
  uint32_t last_need(const StepNode& node) const {
    uint32_t last = graph_.needs[node.first_need];
    for (uint32_t i = 1; i < node.needs; ++i) {
      const uint32_t each = graph_.needs[node.first_need + i];
      if (ends_[each] > ends_[last]) last = each;
    }
    return last;
  }
  double ready(const StepNode& node) const { return node.needs == 0 ? 0 : ends_[last_need(node)]; }

  const StepGraph& graph_;
  std::vector<double> ends_;
};

/// The name that takes more of the path after than before.
std::string grown(const StepGraph& graph, const Run& before, const Run& after, int32_t but) {
  int32_t most = -2;
  double by = 0;
  for (const auto& [name, time] : after.on_path) {
    if (name == but) continue;
    const auto was = before.on_path.find(name);
    const double more = time - (was == before.on_path.end() ? 0 : was->second);
    if (more > by) by = more, most = name;
  }
  return most == -2   ? std::string()
         : most == -1 ? kNothingUnderWay
                      : graph.names[static_cast<size_t>(most)];
}

// The end is convex in the share: the largest of the straight lines of all paths. The first of them
// holds up to where another one meets it.
Hurdle hurdle_of(const StepGraph& graph, Walk& walk, const Run& now, int32_t name) {
  Hurdle hurdle;
  hurdle.name = graph.names[static_cast<size_t>(name)];
  hurdle.on_path_us = std::llround(now.on_path.at(name));
  hurdle.spans_on_path =
      std::ranges::count_if(now.path, [&](uint32_t i) { return graph.nodes[i].name == name; });
  const double slope = now.on_path.at(name);
  Run other = walk.run(name, 1);
  hurdle.at_most_us = std::llround(now.end - other.end);
  double share = 1;
  for (int i = 0; i < kMaxTries; ++i) {
    if (other.end <= now.end - slope * share + kSame) break;
    if (other.slope >= slope) {
      share = 0;  // a path of the same length has as much of it
      break;
    }
    const double met =
        std::clamp((now.end - other.end - other.slope * share) / (slope - other.slope), 0.0, share);
    hurdle.next = grown(graph, now, other, name);
    share = met;
    if (met <= 0) break;
    Run at = walk.run(name, met);
    if (at.end <= now.end - slope * met + kSame) break;
    other = std::move(at);
  }
  hurdle.faster_us = std::llround(slope * share);
  return hurdle;
}

std::vector<PathPart> parts_of(const StepGraph& graph, const Run& run) {
  std::vector<PathPart> parts;
  int64_t now = 0;
  for (auto i = run.path.rbegin(); i != run.path.rend(); ++i) {
    const StepNode& node = graph.nodes[*i];
    const int64_t end = node.start + node.duration;
    if (node.step < 0) continue;
    const auto step = static_cast<size_t>(node.step);
    const int64_t shift = graph.shift[step];
    if (node.start > now) parts.push_back({step, -1, now - shift, node.start - shift});
    if (end > std::max(now, node.start) || node.duration == 0)
      parts.push_back({step, node.span, std::max(now, node.start) - shift, end - shift});
    now = std::max(now, end);
  }
  return parts;
}

}  // namespace

CriticalPath critical_path(const std::vector<RankStep>& steps, const StepPlan* plan) {
  const StepGraph graph = step_graph(steps, plan);
  CriticalPath path;
  if (graph.nodes.empty()) return path;
  Walk walk(graph);
  const Run now = walk.run(-1, 0);
  path.parts = parts_of(graph, now);
  path.length_us = std::llround(now.end);
  std::vector<std::pair<double, int32_t>> names;
  for (const auto& [name, time] : now.on_path)
    if (name >= 0 && time > 0) names.push_back({time, name});
  std::ranges::sort(names, std::ranges::greater{});
  if (names.size() > kMaxHurdles) names.resize(kMaxHurdles);
  for (const auto& [time, name] : names) path.hurdles.push_back(hurdle_of(graph, walk, now, name));
  return path;
}

}  // namespace heddle::workbench
