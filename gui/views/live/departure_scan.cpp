#include "gui/views/live/departure_scan.h"

#include <algorithm>
#include <map>

#include "engine/telemetry/metrics.h"

namespace heddle::gui {
namespace {

constexpr const char* kSeconds = "step_seconds";
constexpr const char* kBytes = "resident_bytes";
constexpr int64_t kSamples = 400'000;  // read by a call
constexpr int64_t kLargest = int64_t{1} << 20, kSmallest = int64_t{1} << 12, kParts = 16;  // steps
constexpr int64_t kLate = 64;  // a rank that is so many steps late does not hold the others back

}  // namespace

struct DepartureScan::Stretch {
  int64_t first = 0, last = 0;
  int64_t steps() const { return last - first + 1; }
  storage::StepRange range() const { return {first, last}; }
};

bool DepartureScan::isDone() const {
  const bool time = departures_.time() || departures_.predicted().seconds <= 0;
  const bool memory = departures_.memory() || departures_.predicted().bytes <= 0;
  return time && memory;
}

Result<> DepartureScan::goOn(storage::Reader& reader, const storage::RunDetail& run, bool ended) {
  if (const PredictedStep predicted = predictedStep(run); predicted != departures_.predicted()) {
    departures_ = Departures(predicted);
    next_ = 1;
  }
  left_ = kSamples;
  more_ = false;
  // Ranks report a step one after the other; one that is late is waited for, for some steps.
  int64_t newest = 0, reported = std::numeric_limits<int64_t>::max();
  if (isDone() || run.ranks.empty()) return {};
  for (const int32_t rank : run.ranks) {
    const auto rest = reader.series(run.summary.id, kSeconds, rank, {next_}, 1);
    if (!rest) return fail(rest);
    const int64_t last = rest->empty() ? next_ - 1 : rest->back().last_step;
    newest = std::max(newest, last);
    reported = std::min(reported, last);
  }
  const int64_t end = ended ? newest : std::max(reported, newest - kLate);
  while (next_ <= end && !isDone()) {
    if (left_ <= 0) {
      more_ = true;
      return {};
    }
    const Stretch stretch{next_, std::min(end, next_ + kLargest - 1)};
    if (const Result<> looked = look(reader, run, stretch); !looked) return looked;
  }
  return {};
}

/// Moves `next_` to the stretch's end, or as far as there is time.
Result<> DepartureScan::look(storage::Reader& reader, const storage::RunDetail& run,
                             Stretch stretch) {
  if (left_ <= 0 || isDone()) return {};
  const auto may = mayDepart(reader, run, stretch);
  if (!may) return fail(may);
  if (!*may) {
    departures_.skip();
    next_ = stretch.last + 1;
    return {};
  }
  if (stretch.steps() <= kSmallest) return takeAll(reader, run, stretch);
  const int64_t part = std::max(kSmallest, stretch.steps() / kParts);
  while (next_ <= stretch.last && left_ > 0 && !isDone()) {
    const Stretch inside{next_, std::min(stretch.last, next_ + part - 1)};
    if (const Result<> looked = look(reader, run, inside); !looked) return looked;
  }
  return {};
}

/// Whether some step of the stretch may be off, by its extremes.
Result<bool> DepartureScan::mayDepart(storage::Reader& reader, const storage::RunDetail& run,
                                      const Stretch& stretch) const {
  if (departures_.isInRow()) return true;
  bool reported = false, allQuick = true;
  for (const int32_t rank : run.ranks) {
    const auto seconds = reader.series(run.summary.id, kSeconds, rank, stretch.range(), 1);
    if (!seconds) return fail(seconds);
    const auto bytes = reader.series(run.summary.id, kBytes, rank, stretch.range(), 1);
    if (!bytes) return fail(bytes);
    if (!seconds->empty()) {
      if (departures_.isSlow(seconds->front().max)) return true;
      reported = true;
      allQuick = allQuick && departures_.isQuick(seconds->front().min);
    }
    if (!bytes->empty() && departures_.isLarge(bytes->front().max)) return true;
  }
  return reported && allQuick;
}

Result<> DepartureScan::takeAll(storage::Reader& reader, const storage::RunDetail& run,
                                const Stretch& stretch) {
  std::map<int64_t, StepPoint> points;
  for (const int32_t rank : run.ranks) {
    for (const auto& [name, member] :
         {std::pair(kSeconds, &StepPoint::stepSeconds), {kBytes, &StepPoint::memoryBytes}}) {
      const auto samples = reader.samples(run.summary.id, name, rank, stretch.range());
      if (!samples) return fail(samples);
      left_ -= static_cast<int64_t>(samples->size());
      for (const storage::Sample& sample : *samples) {
        StepPoint& point = points[sample.step];
        point.step = sample.step;
        raise(point.*member, sample.value);
      }
    }
  }
  std::vector<StepPoint> inOrder;
  inOrder.reserve(points.size());
  for (const auto& [step, point] : points) inOrder.push_back(point);
  departures_.take(inOrder);
  next_ = stretch.last + 1;
  return {};
}

}  // namespace heddle::gui
