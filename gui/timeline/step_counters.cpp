#include "gui/timeline/step_counters.h"

#include <QObject>

namespace heddle::gui {

Counters countersOf(const Timeline& timeline, const workbench::StepPlan* plan, int64_t rank,
                    const std::vector<plan::MemoryMoment>& memory) {
  Counters counters;
  if (!memory.empty()) {
    Counter held{QObject::tr("memory"), {}, {}};
    for (const plan::MemoryMoment& moment : memory) {
      held.points.push_back({moment.time_us, static_cast<double>(moment.bytes.total())});
      held.parts.push_back(moment.bytes);
    }
    counters.push_back(std::make_shared<const Counter>(std::move(held)));
  }
  if (plan && plan->knows_transfers()) {
    const auto bytesOf = [&](const telemetry::Span& span) {
      const plan::Transfer* transfer = plan->transfer(rank, span.node);
      return transfer ? transfer->bytes : 0;
    };
    Counter moving{
        QObject::tr("in flight"), bytesInFlight(timeline.lane(Stream::communication), bytesOf), {}};
    if (!moving.points.empty())
      counters.push_back(std::make_shared<const Counter>(std::move(moving)));
  }
  return counters;
}

}  // namespace heddle::gui
