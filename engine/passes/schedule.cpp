#include "engine/passes/schedule.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace heddle::passes {
namespace {

constexpr double kNoTime = std::numeric_limits<double>::infinity();

double seconds_of(Part part, const PartSeconds& seconds) {
  switch (part) {
    case Part::forward:
      return seconds.forward;
    case Part::backward:
      return seconds.inputs + seconds.weights;
    case Part::inputs:
      return seconds.inputs;
    case Part::weights:
      return seconds.weights;
  }
  return 0;
}

// When the parts of all micro-batches end; what has not ended ends never.
class Ends {
 public:
  explicit Ends(const Pipeline& pipeline, double transfer = 0)
      : stages_(pipeline.stages), transfer_(transfer) {
    for (std::vector<End>& part : ends_)
      part.assign(static_cast<size_t>(pipeline.stages * pipeline.micro_batches), {});
  }

  void set(const Action& action, double sent, double time) { at(action) = {sent, time}; }

  // When all that an action needs is there.
  double ready(const Action& action) const {
    const auto [part, stage, micro_batch] = action;
    switch (part) {
      case Part::forward:
        return stage == 0 ? 0.0 : sent({Part::forward, stage - 1, micro_batch}) + transfer_;
      case Part::weights:
        return end({Part::inputs, stage, micro_batch});
      case Part::backward:
      case Part::inputs:
        break;
    }
    const double own = end({Part::forward, stage, micro_batch});
    if (stage + 1 == stages_) return own;
    const double next = std::min(sent({Part::backward, stage + 1, micro_batch}),
                                 sent({Part::inputs, stage + 1, micro_batch}));
    return std::max(own, next + transfer_);
  }

 private:
  struct End {
    double sent = kNoTime, time = kNoTime;
  };
  double end(const Action& action) const { return at(action).time; }
  double sent(const Action& action) const { return at(action).sent; }
  size_t index(const Action& action) const {
    return static_cast<size_t>(action.micro_batch * stages_ + action.stage);
  }
  const End& at(const Action& action) const {
    return ends_[static_cast<size_t>(action.part)][index(action)];
  }
  End& at(const Action& action) { return ends_[static_cast<size_t>(action.part)][index(action)]; }

  int64_t stages_;
  double transfer_;
  std::array<std::vector<End>, 4> ends_;  // by part: of all micro-batches and stages
};

// Forwards that come before the first backward.
int64_t warm_up_of(const Pipeline& p, int64_t rank) {
  const int64_t own_stages = p.stages / p.ranks, ahead = p.ranks - rank - 1;
  return own_stages == 1 ? ahead : 2 * ahead + (own_stages - 1) * p.ranks;
}

// Megatron's order: forwards in groups of `ranks` micro-batches a stage; after a warm-up that grows
// towards the first rank, forwards and backwards take turns. Micro-batches that fill up the last
// group do not exist and are left out, which leaves a valid order.
std::vector<Action> alternating(const Pipeline& p, int64_t rank, int64_t warm_up) {
  const int64_t own_stages = p.stages / p.ranks;
  const int64_t groups = (p.micro_batches + p.ranks - 1) / p.ranks;
  const int64_t count = groups * p.ranks * own_stages;
  const auto nth = [&](int64_t n, bool forward) {
    const int64_t in_group = n % (p.ranks * own_stages);
    const int64_t turn = in_group / p.ranks;
    const int64_t chunk = forward ? turn : own_stages - 1 - turn;
    return Action{forward ? Part::forward : Part::backward,
                  static_cast<int32_t>(chunk * p.ranks + rank),
                  static_cast<int32_t>(n / (p.ranks * own_stages) * p.ranks + in_group % p.ranks)};
  };
  warm_up = std::min(warm_up, count);
  std::vector<Action> actions;
  const auto add = [&](const Action& action) {
    if (action.micro_batch < p.micro_batches) actions.push_back(action);
  };
  for (int64_t n = 0; n < warm_up; ++n) add(nth(n, true));
  for (int64_t n = warm_up; n < count; ++n) {
    add(nth(n, true));
    add(nth(n - warm_up, false));
  }
  for (int64_t n = count - warm_up; n < count; ++n) add(nth(n, false));
  return actions;
}

std::vector<Action> all_forward_first(const Pipeline& p, int64_t rank) {
  std::vector<Action> actions;
  const auto add = [&](Part part, int64_t stage) {
    for (int32_t m = 0; m < p.micro_batches; ++m)
      actions.push_back({part, static_cast<int32_t>(stage), m});
  };
  for (int64_t stage = rank; stage < p.stages; stage += p.ranks) add(Part::forward, stage);
  for (int64_t stage = p.stages - p.ranks + rank; stage >= 0; stage -= p.ranks)
    add(Part::backward, stage);
  return actions;
}

// ZB-H1: 1F1B's order, with backward in two parts. Weight gradients fill the gaps: they follow
// where one more forward would hold more than the bound, and each backward once forward is done.
std::vector<Action> zero_bubble(const Pipeline& p, int64_t rank) {
  const int64_t own_stages = p.stages / p.ranks;
  const int64_t all = own_stages * p.micro_batches, of_1f1b = warm_up_of(p, 0) + (rank == 0);
  // The others hold one less than 1F1B's first rank, since the first stage may have fewer layers
  // and the last makes the logits. Where all forwards come before the first backward, 1F1B's first
  // rank holds one less, too, by the time that there are sums of gradients.
  const int64_t most = p.limit > 0 && own_stages == 1
                           ? p.limit
                           : std::clamp<int64_t>(all - 1, 1, std::max<int64_t>(of_1f1b, 1));
  // Room beyond 1F1B's is for more forwards ahead of the first backward (ZB-H2).
  int64_t warm_up = warm_up_of(p, rank);
  if (own_stages == 1 && p.limit > 0)
    warm_up = std::min(std::max(warm_up, most - 1 - 2 * rank), most - 1);
  std::vector<Action> actions, put_off;
  size_t next = 0;  // of those put off
  int64_t held = 0, forwards = all;
  const auto add_weights = [&] {
    actions.push_back(put_off[next++]);
    --held;
  };
  for (const Action& action : alternating(p, rank, warm_up)) {
    const auto [part, stage, micro_batch] = action;
    if (part == Part::forward) {
      while (held >= most && next < put_off.size()) add_weights();
      actions.push_back(action);
      ++held;
      --forwards;
    } else {
      actions.push_back({Part::inputs, stage, micro_batch});
      put_off.push_back({Part::weights, stage, micro_batch});
      if (forwards == 0) add_weights();
    }
  }
  while (next < put_off.size()) add_weights();
  return actions;
}

}  // namespace

std::vector<Action> actions_of(const Pipeline& pipeline, int64_t rank) {
  switch (pipeline.schedule) {
    case PipelineSchedule::gpipe:
      return all_forward_first(pipeline, rank);
    case PipelineSchedule::one_f_one_b:
    case PipelineSchedule::interleaved:
      return alternating(pipeline, rank, warm_up_of(pipeline, rank));
    case PipelineSchedule::zero_bubble:
      return zero_bubble(pipeline, rank);
  }
  return {};
}

std::vector<std::vector<Turn>> timetable(const Pipeline& pipeline,
                                         const std::function<TurnSeconds(const Action&)>& seconds,
                                         double transfer) {
  std::vector<std::vector<Action>> orders;
  for (int64_t rank = 0; rank < pipeline.ranks; ++rank)
    orders.push_back(actions_of(pipeline, rank));
  Ends ends(pipeline, transfer);
  std::vector<std::vector<Turn>> turns(orders.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t rank = 0; rank < orders.size(); ++rank) {
      std::vector<Turn>& done = turns[rank];
      for (; done.size() < orders[rank].size(); moved = true) {
        const Action& action = orders[rank][done.size()];
        const double ready = ends.ready(action);
        if (ready == kNoTime) break;
        const double begin = std::max(done.empty() ? 0.0 : done.back().end, ready);
        const auto [whole, until_sent] = seconds(action);
        done.push_back({action, begin, begin + whole});
        ends.set(action, begin + until_sent, begin + whole);
      }
    }
  }
  return turns;
}

std::vector<std::vector<int32_t>> received_before(const Pipeline& pipeline, int64_t rank) {
  const std::vector<Action> own = actions_of(pipeline, rank);
  std::vector<std::vector<int32_t>> received(own.size());
  for (int64_t stage = rank; stage < pipeline.stages; stage += pipeline.ranks) {
    if (stage == 0) continue;
    std::vector<int32_t> ended;
    for (const Action& action : actions_of(pipeline, pipeline.rank_of(stage - 1))) {
      if (action.stage != stage - 1 || action.part == Part::weights) continue;
      if (action.part != Part::forward) {
        ended.push_back(action.micro_batch);
        continue;
      }
      const Action follows{Part::forward, static_cast<int32_t>(stage), action.micro_batch};
      received[std::ranges::find(own, follows) - own.begin()] = std::move(ended);
      ended.clear();
    }
  }
  return received;
}

double bubble(const Pipeline& pipeline, const PartSeconds& seconds) {
  const auto turns = timetable(pipeline, [&](const Action& action) {
    const double whole = seconds_of(action.part, seconds);
    return TurnSeconds{whole, whole};
  });
  double last = 0;
  for (int64_t rank = 0; rank < pipeline.ranks; ++rank) {
    const std::vector<Turn>& done = turns[static_cast<size_t>(rank)];
    if (done.size() < actions_of(pipeline, rank).size())
      return kNoTime;  // they wait for each other
    last = std::max(last, done.back().end);
  }
  const double ideal = static_cast<double>(pipeline.micro_batches * pipeline.stages) /
                       static_cast<double>(pipeline.ranks) *
                       (seconds.forward + seconds.inputs + seconds.weights);
  return last / ideal - 1.0;
}

}  // namespace heddle::passes
