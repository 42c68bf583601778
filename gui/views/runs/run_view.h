// How the runs table is arranged: filter, columns, order, groups. Kept from one start to the next,
// and by name. Plain data.
#pragma once

#include <QMap>
#include <QSettings>
#include <QString>
#include <QStringList>

#include "gui/views/runs/run_order.h"

namespace heddle::gui {

struct RunView {
  QString filter;
  QStringList added;          // keys of columns that a person has added
  QStringList order;          // keys of all columns
  QMap<QString, int> widths;  // that a person has given
  QMap<QString, bool> shown;  // columns that are always shown, or never
  QStringList pinned;         // keys; they stay at the left
  QList<RunSort> sorts;
  QStringList groups;  // keys, the outer first
};

/// Where views are kept in the settings; empty name: the one in use.
RunView loadRunView(QSettings& settings, const QString& name);
void saveRunView(QSettings& settings, const QString& name, const RunView& view);
void removeRunView(QSettings& settings, const QString& name);
/// Sorted.
QStringList namedRunViews(QSettings& settings);

}  // namespace heddle::gui
