#include "gui/views/compose/changed_lines.h"

#include <QHash>
#include <QStringView>
#include <algorithm>

namespace heddle::gui {

ChangedLines changedLines(const QString& before, const QString& after) {
  const QList<QStringView> was = QStringView(before).split(QChar('\n'));
  const QList<QStringView> now = QStringView(after).split(QChar('\n'));
  const qsizetype shorter = std::min(was.size(), now.size());
  qsizetype above = 0, below = 0;
  while (above < shorter && was[above] == now[above]) ++above;
  while (below < shorter - above && was[was.size() - 1 - below] == now[now.size() - 1 - below])
    ++below;
  // An edit may be in several places: the old lines between them are not new.
  QHash<QStringView, int> left;
  for (qsizetype i = above; i < was.size() - below; ++i) ++left[was[i]];
  ChangedLines changed{.at = static_cast<int>(std::min(above, now.size() - 1)), .lines = {}};
  for (qsizetype i = above; i < now.size() - below; ++i) {
    const auto old = left.find(now[i]);
    if (old != left.end() && *old > 0)
      --*old;
    else if (!now[i].isEmpty())
      changed.lines << static_cast<int>(i);
  }
  if (!changed.lines.isEmpty()) changed.at = changed.lines.first();
  return changed;
}

}  // namespace heddle::gui
