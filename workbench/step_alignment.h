// Two steps laid side by side, node by node: a predicted and a measured one, or two of either kind.
// Every microsecond of both is in exactly one row of each grouping, so that the rows' differences
// add up to the difference of the steps.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/plan/document.h"
#include "workbench/bucket_names.h"
#include "workbench/time_spent.h"

namespace heddle::workbench {

/// A step of one rank.
struct Side {
  std::string name;  // as in "12 ms in …": "the prediction", "debug-2"
  int64_t rank = 0;
  int64_t stage = 0;
  int64_t step_us = 0;
  std::vector<telemetry::Span> spans;
  std::vector<plan::BucketFigures> buckets;  // names and modules are looked at
  std::string plan_hash;                     // empty: not known
  std::optional<plan::MemoryBytes> memory;   // at the peak
  std::vector<plan::MemoryMoment> moments;   // over the step; empty: not measured
};

enum class Grouping : uint8_t { bucket, phase, module, node };
inline constexpr std::array kGroupings = {Grouping::bucket, Grouping::phase, Grouping::module,
                                          Grouping::node};
inline constexpr std::array kGroupingNames = {"bucket", "phase", "module", "node"};

/// Rows for time without a span.
inline constexpr const char* kBetween = "between operators";
inline constexpr const char* kOutside = "before and after the graph";

/// In which rows spans are. By node, sides of one plan are joined by their nodes' numbers; others
/// by operator, module, phase and the how-manieth it is of these.
class RowNames {
 public:
  RowNames(const Side& left, const Side& right);
  /// `side`: 0 left, 1 right.
  std::string of(size_t side, const telemetry::Span& span, Grouping grouping) const;

 private:
  std::string module_of(const telemetry::Span& span) const;
  std::string node_of(size_t side, const telemetry::Span& span) const;
  void number(size_t side, const std::vector<const std::vector<telemetry::Span>*>& spans);

  // A pipeline's step that was predicted by parts has a span a layer: then there is no finer row.
  bool by_layers_ = false;
  std::array<BucketNames, 2> buckets_;
  std::array<std::unordered_map<int32_t, int>, 2> numbers_;  // by node; from 1, 0: the only one
};

struct Row {
  std::string name;
  Spent left, right;
  int64_t left_spans = 0, right_spans = 0;  // what is hidden altogether has spans and no time
  int64_t difference() const { return right.total() - left.total(); }
};

struct Alignment {
  Spent left, right;
  std::array<std::vector<Row>, kGroupings.size()> rows;  // by grouping; largest difference first
  std::shared_ptr<const RowNames> names;

  const std::vector<Row>& by(Grouping grouping) const {
    return rows[static_cast<size_t>(grouping)];
  }
};

/// Near-linear; some tens of milliseconds for tens of thousands of spans.
Alignment align(const Side& left, const Side& right);

/// The first `most` rows, and all others put together as one.
std::vector<Row> with_others(const std::vector<Row>& rows, size_t most);

/// Where two steps differ, in a sentence.
struct Surprise {
  Grouping grouping = Grouping::node;
  std::string row;
  int64_t difference_us = 0;
  std::string words;  // "all_gather layers.3 (backward): 12 ms exposed in the measurement, …"
};

/// The largest ones that are more than a hundredth of a step, at most `most`.
std::vector<Surprise> surprises(const Alignment& alignment, const Side& left, const Side& right,
                                size_t most = 3);

}  // namespace heddle::workbench
