#include "gui/views/compare/compare_choices.h"

#include "gui/models/run_ids.h"

namespace heddle::gui {

void CompareChoices::setRuns(const QList<qint64>& runs) {
  const QList<qint64> before = timelines();
  const qint64 baseline = this->baseline();
  runs_ = runs;
  const QSet<qint64> present(runs.begin(), runs.end());
  if (!present.contains(baseline_)) baseline_ = 0;
  hidden_ &= present;
  highlighted_ &= present;
  timelines_ &= present;
  if (timelines_.isEmpty()) choseTimelines_ = false;
  if (this->baseline() != baseline) Q_EMIT baselineChanged();
  if (timelines() != before) Q_EMIT timelinesChanged();
}

void CompareChoices::setBaseline(qint64 run) {
  if (!runs_.contains(run) || run == baseline()) return;
  baseline_ = run;
  Q_EMIT baselineChanged();
}

void CompareChoices::setHidden(const QList<qint64>& runs, bool hidden) {
  const QList<qint64> before = timelines();
  for (const qint64 run : runs) {
    if (!hidden)
      hidden_.remove(run);
    else if (runs_.contains(run))
      hidden_.insert(run);
  }
  Q_EMIT hiddenChanged();
  if (timelines() != before) Q_EMIT timelinesChanged();
}

void CompareChoices::setHighlighted(const QSet<qint64>& runs) {
  if (runs == highlighted_) return;
  highlighted_ = runs;
  Q_EMIT highlightChanged();
}

QList<qint64> CompareChoices::timelines() const {
  QList<qint64> shown;
  for (const qint64 run : runs_)
    if (choseTimelines_ ? timelines_.contains(run)
                        : !hidden_.contains(run) && shown.size() < kTimelines)
      shown.append(run);
  return shown;
}

void CompareChoices::setTimelines(const QList<qint64>& runs, bool shown) {
  if (!choseTimelines_) {
    const QList<qint64> before = timelines();
    timelines_ = QSet<qint64>(before.begin(), before.end());
    choseTimelines_ = true;
  }
  for (const qint64 run : runs) {
    if (shown)
      timelines_.insert(run);
    else
      timelines_.remove(run);
  }
  Q_EMIT timelinesChanged();
}

QJsonObject CompareChoices::toJson() const {
  QJsonObject choices{{"runs", gui::toJson(runs_)},
                      {"baseline", baseline_},
                      {"hidden", gui::toJson(hidden_.values())},
                      {"highlighted", gui::toJson(highlighted_.values())}};
  if (choseTimelines_) choices["timelines"] = gui::toJson(timelines_.values());
  return choices;
}

void CompareChoices::restore(const QJsonObject& choices) {
  setRuns(runIds(choices["runs"]));
  setBaseline(choices["baseline"].toInteger());
  setHidden(runIds(choices["hidden"]), true);
  const QList<qint64> highlighted = runIds(choices["highlighted"]);
  setHighlighted(QSet<qint64>(highlighted.begin(), highlighted.end()));
  if (!choices.contains("timelines")) return;
  setTimelines(runs_, false);
  setTimelines(runIds(choices["timelines"]), true);
}

}  // namespace heddle::gui
