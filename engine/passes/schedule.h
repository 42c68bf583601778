// Pipeline schedules: what each rank does in which order.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace heddle::passes {

enum class PipelineSchedule : uint8_t {
  gpipe,        // all forward, then all backward (arXiv 1811.06965)
  one_f_one_b,  // one forward, one backward, few micro-batches under way (arXiv 2006.09503)
  interleaved,  // the same with several stages a rank (arXiv 2104.04473)
  zero_bubble,  // backward in two parts, weight gradients fill the gaps (arXiv 2401.10241)
};

/// Forward; backward; or backward's two parts: towards the inputs, and the weights' gradients.
enum class Part : uint8_t { forward, backward, inputs, weights };

/// One part of one micro-batch in one stage.
struct Action {
  Part part = Part::forward;
  int32_t stage = 0;
  int32_t micro_batch = 0;
  bool operator==(const Action&) const = default;
};

struct Pipeline {
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  int64_t ranks = 1;
  int64_t stages = 1;  // a multiple of the ranks: rank r has the stages r, r + ranks, …
  int64_t micro_batches = 1;
  /// Zero-bubble alone: the most micro-batches whose activations a rank holds, where each rank has
  /// one stage. 0: on the first rank as in 1F1B, on the others one less. As many as there are
  /// ranks: ZB-H1 as published.
  int64_t limit = 0;

  int64_t rank_of(int64_t stage) const { return stage % ranks; }
};

/// The actions of `rank`, in order. The orders of all ranks fit together: followed in order, each
/// waiting for what it needs of the others, they finish, for any number of micro-batches.
std::vector<Action> actions_of(const Pipeline& pipeline, int64_t rank);

/// For each of those actions: the micro-batches whose gradients the stage before has received by
/// the time that it sends what the action needs, a forward one.
std::vector<std::vector<int32_t>> received_before(const Pipeline& pipeline, int64_t rank);

/// An action by the clock, in seconds.
struct Turn {
  Action action;
  double begin = 0, end = 0;
};

/// How long an action takes, and when what the neighbouring stage needs of it is there: the weight
/// gradients of a backward pass may follow.
struct TurnSeconds {
  double whole = 0, until_sent = 0;
};

/// Every rank's actions as they happen: each begins when the rank has ended the one before
/// and all that it needs is there, `transfer` seconds after it was sent by another rank. A rank
/// whose order does not fit the others' has fewer than `actions_of` gives.
std::vector<std::vector<Turn>> timetable(const Pipeline& pipeline,
                                         const std::function<TurnSeconds(const Action&)>& seconds,
                                         double transfer = 0);

/// Seconds of each part in one stage; a whole backward takes inputs + weights.
struct PartSeconds {
  double forward = 1, inputs = 1, weights = 1;
};

/// The time until the last rank is done, transfers being free, over the time that one rank
/// computes, minus one: the bubble as a share of ideal compute time.
double bubble(const Pipeline& pipeline, const PartSeconds& seconds);

}  // namespace heddle::passes
