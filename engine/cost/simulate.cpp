#include "engine/cost/simulate.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "engine/recipe/mesh.h"
#include "engine/recipe/stage_groups.h"

namespace heddle::cost {
namespace {

using graph::Graph;
using graph::Node;

// A transfer that several pipeline ranks join: the k-th of its group.
struct Meeting {
  size_t expected = 0, came = 0;
  double latest = 0;  // of those that came
  double done = 0;    // once all have come
  double began = 0;
};

// The meetings of all groups that join pipeline stages.
class Meetings {
 public:
  explicit Meetings(size_t ranks) : ranks_(ranks) {}

  // Which group a collective is of, where it joins stages; −1 otherwise.
  int group(const Node& collective) {
    if (ranks_ == 1) return -1;
    const std::string& name = graph::group_of(collective);
    if (!recipe::joins_stages(name)) return -1;
    const auto [known, added] = numbers_.try_emplace(name, static_cast<int>(groups_.size()));
    if (added) {
      // Transfers and the two ends are pairs; other groups reach along the whole pipeline.
      const bool pair = name.starts_with("pp stage ") || name == recipe::kEndsGroup;
      groups_.push_back({pair ? 2 : ranks_, {}});
    }
    return known->second;
  }

  // `number`: how many of the group this rank has joined before.
  void come(int group, size_t number, double now, double seconds) {
    auto& [members, meetings] = groups_[static_cast<size_t>(group)];
    if (meetings.size() <= number) meetings.resize(number + 1);
    Meeting& meeting = meetings[number];
    meeting.expected = members;
    meeting.latest = std::max(meeting.latest, now);
    if (++meeting.came < meeting.expected) return;
    const double before = number > 0 ? meetings[number - 1].done : 0.0;
    meeting.began = std::max(meeting.latest, before);
    meeting.done = meeting.began + seconds;
  }

  // nullptr: not all have come.
  const Meeting* find(int group, size_t number) const {
    const Meeting& meeting = groups_[static_cast<size_t>(group)].meetings[number];
    return meeting.came == meeting.expected ? &meeting : nullptr;
  }

 private:
  struct Group {
    size_t members;
    std::vector<Meeting> meetings;
  };
  size_t ranks_;
  std::unordered_map<std::string, int> numbers_;
  std::vector<Group> groups_;
};

// Compute goes on during a transfer, since threads share the cores.
constexpr double kSlowest = 0.05;

// One rank's clock.
class Rank {
 public:
  Rank(const RankProgram& program, Meetings& meetings)
      : graph_(*program.planned), durations_(program.durations), meetings_(meetings) {
    maker_.assign(graph_.values.size(), -1);
    group_.assign(graph_.nodes.size(), -1);
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (graph::is_collective(graph_.nodes[i])) {
        maker_[graph_.nodes[i].outputs.front()] = static_cast<int32_t>(i);
        group_[i] = meetings_.group(graph_.nodes[i]);
      }
    met_.assign(graph_.nodes.size(), 0);
    result_.compute.resize(graph_.nodes.size());
    result_.transfers.resize(graph_.nodes.size());
  }

  // Goes on until it must wait for another rank, or two steps are over. True if it got anywhere.
  bool go_on() {
    bool moved = false;
    while (!over()) {
      if (at_ == 0 && !begun_) begin_step();
      if (!execute(at_)) return moved;
      moved = true;
      if (++at_ < graph_.nodes.size()) continue;
      ++step_;
      at_ = 0;
      begun_ = false;
    }
    return moved;
  }

  bool over() const { return step_ == 2 || graph_.nodes.empty(); }

  // The second step, from its begin.
  Simulated result() {
    for (const Queue& queue : wires_)
      for (const UnderWay& each : queue.under_way) {
        Interval& moving = result_.transfers[each.node].moving;
        moving = {each.moves ? moving.begin : now_, now_};
      }
    const auto shift = [&](Interval& interval) {
      interval.begin -= began_;
      interval.end -= began_;
    };
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      shift(result_.compute[i]);
      Transferred& transfer = result_.transfers[i];
      shift(transfer.moving);
      shift(transfer.bubble);
      transfer.started -= began_;
    }
    for (Carried& carried : result_.carried) shift(carried.moving);
    result_.step_seconds = now_ - began_;
    return std::move(result_);
  }

 private:
  struct UnderWay {
    size_t node;
    Duration duration;
    double left = 1.0;  // the share that is still to come
    bool moves = false;
  };

  // The transfers of a wire; the first one moves.
  struct Queue {
    std::deque<UnderWay> under_way;
    double free = 0;  // when the last one was done
  };

  void begin_step() {
    begun_ = true;
    began_ = now_;
    result_.compute_seconds = result_.exposed_seconds = result_.bubble_seconds = 0;
    result_.carried.clear();
    for (Transferred& transfer : result_.transfers) {
      transfer.exposed = 0;
      transfer.bubble = {now_, now_};
    }
  }

  bool execute(size_t i) {
    const Node& node = graph_.nodes[i];
    if (graph::is_wait(node)) {
      const int32_t maker = maker_[graph::list_of(node).front().value];
      return maker < 0 || wait(static_cast<size_t>(maker));
    }
    if (graph::is_collective(node)) {
      start(i);
    } else {
      const double begin = now_;
      compute(durations_[i].alone);
      result_.compute[i] = {begin, now_};
      result_.compute_seconds += now_ - begin;
      computed_ += now_ - begin;
    }
    return true;
  }

  void start(size_t i) {
    // The wait since this step began for a transfer of the previous step stays.
    Transferred& transfer = result_.transfers[i];
    transfer.started = now_;
    transfer.moving = {now_, now_};
    transfer.beside = computed_;
    if (group_[i] >= 0) {
      met_[i] = comings_[group_[i]]++;
      meetings_.come(group_[i], met_[i], now_, durations_[i].alone);
      return;
    }
    if (durations_[i].alone <= 0) return;  // nothing moves
    Queue& queue = queue_of(i);
    transfer.idle_link = queue.under_way.empty() ? now_ - queue.free : 0.0;
    queue.under_way.push_back({i, durations_[i]});
  }

  Queue& queue_of(size_t node) { return wires_[static_cast<size_t>(durations_[node].wire)]; }

  // False: other ranks have yet to reach it.
  bool wait(size_t i) {
    Transferred& transfer = result_.transfers[i];
    if (group_[i] < 0) {
      Queue& queue = queue_of(i);
      const bool is_moving = std::ranges::any_of(
          queue.under_way, [&](const UnderWay& each) { return each.node == i; });
      if (is_moving) {
        transfer.beside = computed_ - transfer.beside;
        const double begin = now_;
        for (bool done = false; !done;) {
          UnderWay& front = queue.under_way.front();
          done = front.node == i;
          stand_until(now_ + front.left * front.duration.alone, &queue);
        }
        transfer.exposed += now_ - begin;
        result_.exposed_seconds += now_ - begin;
      }
      return true;
    }
    const Meeting* meeting = meetings_.find(group_[i], met_[i]);
    if (!meeting) return false;
    transfer.moving = {meeting->began, meeting->done};
    if (meeting->latest > now_) {
      transfer.bubble = {now_, meeting->latest};
      result_.bubble_seconds += transfer.bubble.length();
      stand_until(meeting->latest);
    }
    if (meeting->done > now_) {
      transfer.exposed += meeting->done - now_;
      result_.exposed_seconds += meeting->done - now_;
      stand_until(meeting->done);
    }
    return true;
  }

  void begins_to_move(UnderWay& transfer, double now) {
    if (transfer.moves) return;
    transfer.moves = true;
    result_.transfers[transfer.node].moving.begin = now;
  }

  void pop_front(Queue& queue, double now) {
    const size_t node = queue.under_way.front().node;
    Transferred& transfer = result_.transfers[node];
    transfer.moving.end = now;
    if (transfer.started < began_)
      result_.carried.push_back({node, {std::max(transfer.moving.begin, began_), now}});
    queue.free = now;
    queue.under_way.pop_front();
  }

  void compute(double seconds) {
    while (seconds > 0) {
      Queue* first = nullptr;  // whose transfer is done first
      double ends = 0, lost = 0;
      for (Queue& queue : wires_) {
        if (queue.under_way.empty()) continue;
        UnderWay& transfer = queue.under_way.front();
        begins_to_move(transfer, now_);
        const double left = transfer.left * transfer.duration.beside_compute;
        if (first == nullptr || left < ends) {
          first = &queue;
          ends = left;
        }
        lost += lost_beside(transfer.duration);
      }
      if (first == nullptr) break;
      const double speed = std::max(kSlowest, 1.0 - lost);
      const bool outlasts = ends * speed > seconds;
      const double moved = outlasts ? seconds / speed : ends;
      now_ += moved;
      for (Queue& queue : wires_) {
        if (queue.under_way.empty() || (&queue == first && !outlasts)) continue;
        UnderWay& transfer = queue.under_way.front();
        if (moved > 0) transfer.left -= moved / transfer.duration.beside_compute;
      }
      if (outlasts) return;
      seconds -= ends * speed;
      pop_front(*first, now_);
    }
    now_ += seconds;
  }

  // `ends`: the front of that wire is done then, whatever rounding says.
  void stand_until(double time, Queue* ends = nullptr) {
    for (Queue& queue : wires_) {
      double now = now_;
      while (!queue.under_way.empty()) {
        UnderWay& transfer = queue.under_way.front();
        begins_to_move(transfer, now);
        const double left = transfer.left * transfer.duration.alone;
        if (&queue != ends && now + left > time) {
          transfer.left -= (time - now) / transfer.duration.alone;
          break;
        }
        now += left;
        pop_front(queue, now);
        if (&queue == ends) break;
      }
    }
    now_ = time;
  }

  // The share of compute.
  static double lost_beside(const Duration& transfer) {
    return transfer.beside_compute > 0 ? transfer.lost / transfer.beside_compute : 0.0;
  }

  const Graph& graph_;
  const std::vector<Duration>& durations_;
  Meetings& meetings_;
  std::vector<int32_t> maker_;     // by a collective's first result
  std::vector<int> group_;         // by node: of a meeting; −1: of none
  std::vector<size_t> met_;        // by node: its number among its group's
  std::map<int, size_t> comings_;  // by group
  std::array<Queue, kWires> wires_;
  size_t at_ = 0;
  int step_ = 0;
  bool begun_ = false;
  double now_ = 0, began_ = 0;
  double computed_ = 0;  // seconds of compute so far
  Simulated result_;
};

}  // namespace

RankProgram program_of(const Graph& planned, const NodeDuration& duration) {
  RankProgram program{&planned, {}};
  program.durations.reserve(planned.nodes.size());
  for (const Node& node : planned.nodes)
    program.durations.push_back(graph::is_wait(node) ? Duration{} : duration(node));
  return program;
}

RankProgram program_of(const Graph& planned, const CostModel& cost) {
  return program_of(planned, [&](const Node& node) {
    return graph::is_collective(node) ? cost.transfer(planned, node)
                                      : Duration{cost.seconds(planned, node)};
  });
}

std::vector<Simulated> simulate(const std::vector<RankProgram>& programs) {
  Meetings meetings(programs.size());
  std::deque<Rank> ranks;
  for (const RankProgram& program : programs) ranks.emplace_back(program, meetings);
  // Ranks whose orders do not fit together would wait for each other for ever: then what there is
  // is returned. The verifier of plans is who tells.
  for (bool moved = true; moved;) {
    moved = false;
    for (Rank& rank : ranks) moved = rank.go_on() || moved;
  }
  std::vector<Simulated> results;
  for (Rank& rank : ranks) results.push_back(rank.result());
  return results;
}

Simulated simulate(const RankProgram& program) { return simulate(std::vector{program}).front(); }

}  // namespace heddle::cost
