#include "gui/timeline/lane_choice.h"

#include <QStringList>
#include <algorithm>
#include <optional>

#include "gui/settings.h"

namespace heddle::gui {
namespace {

QStringList sorted(const QSet<QString>& set) {
  QStringList list(set.begin(), set.end());
  list.sort();
  return list;
}

QSet<QString> setOf(const QVariant& value) {
  const QStringList list = value.toStringList();
  return {list.begin(), list.end()};
}

/// Whether "0-7, 12" has the number; none: it is no list of numbers.
std::optional<bool> inNumbers(const QString& list, int64_t number) {
  bool found = false;
  for (const QString& part : list.split(QChar(','), Qt::SkipEmptyParts)) {
    const QStringList ends = part.split(QChar('-'));
    bool first = false, last = false;
    const qlonglong from = ends.first().trimmed().toLongLong(&first);
    const qlonglong to = ends.last().trimmed().toLongLong(&last);
    if (ends.size() > 2 || !first || !last) return std::nullopt;
    found |= from <= number && number <= to;
  }
  return found;
}

}  // namespace

bool LaneChoice::shows(const TimelineRow& row) const {
  if (hidden.contains(row.title)) return false;
  if (filter.trimmed().isEmpty()) return true;
  if (row.rank >= 0)
    if (const auto in = inNumbers(filter, row.rank)) return *in;
  return row.title.contains(filter.trimmed(), Qt::CaseInsensitive) ||
         row.subtitle.contains(filter.trimmed(), Qt::CaseInsensitive);
}

RowShape LaneChoice::shapeOf(const TimelineRow& row) const {
  const bool pins = pinned.contains(row.title);
  return {.hidden = !pins && !shows(row),  // what is pinned stays through every filter
          .pinned = pins,
          .collapsed = collapsed.contains(row.title),
          .counters = counters ? static_cast<int>(row.counters.size()) : 0};
}

LaneChoice readLanes(const QString& key) {
  const auto settings = openSettings();
  settings->beginGroup(key);
  LaneChoice lanes;
  lanes.pinned = setOf(settings->value(QStringLiteral("pinned")));
  lanes.collapsed = setOf(settings->value(QStringLiteral("collapsed")));
  lanes.hidden = setOf(settings->value(QStringLiteral("hidden")));
  lanes.filter = settings->value(QStringLiteral("filter")).toString();
  lanes.streams = {settings->value(QStringLiteral("compute"), true).toBool(),
                   settings->value(QStringLiteral("communication"), true).toBool()};
  lanes.counters = settings->value(QStringLiteral("counters"), false).toBool();
  return lanes;
}

void keepLanes(const QString& key, const LaneChoice& lanes) {
  const auto settings = openSettings();
  settings->beginGroup(key);
  settings->setValue(QStringLiteral("pinned"), sorted(lanes.pinned));
  settings->setValue(QStringLiteral("collapsed"), sorted(lanes.collapsed));
  settings->setValue(QStringLiteral("hidden"), sorted(lanes.hidden));
  settings->setValue(QStringLiteral("filter"), lanes.filter);
  settings->setValue(QStringLiteral("compute"), lanes.streams[0]);
  settings->setValue(QStringLiteral("communication"), lanes.streams[1]);
  settings->setValue(QStringLiteral("counters"), lanes.counters);
}

}  // namespace heddle::gui
