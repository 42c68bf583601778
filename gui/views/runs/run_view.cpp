#include "gui/views/runs/run_view.h"

#include <QUrl>
#include <algorithm>

namespace heddle::gui {
namespace {

constexpr int kMaxWidth = 2000, kMaxSorts = 8;
const QString kViewsFolder = QStringLiteral("runs/views");

/// A name may have any letters; a slash would make a folder of it.
QString folderOf(const QString& name) {
  if (name.isEmpty()) return QStringLiteral("runs");
  return kViewsFolder + QChar('/') + QString::fromLatin1(QUrl::toPercentEncoding(name));
}

}  // namespace

RunView loadRunView(QSettings& settings, const QString& name) {
  RunView view;
  settings.beginGroup(folderOf(name));
  view.filter = settings.value("filter").toString();
  view.added = settings.value("added").toStringList();
  view.added.removeDuplicates();
  view.order = settings.value("order").toStringList();
  view.pinned = settings.value("pinned").toStringList();
  view.groups = settings.value("group").toStringList();
  view.groups.removeDuplicates();
  view.groups.removeAll(QString());
  view.groups.resize(std::min(view.groups.size(), qsizetype{kMaxGroupKeys}));
  const QVariantMap widths = settings.value("widths").toMap();
  for (auto width = widths.begin(); width != widths.end(); ++width)
    if (width->toInt() > 0) view.widths[width.key()] = std::min(width->toInt(), kMaxWidth);
  const QVariantMap shown = settings.value("shown").toMap();
  for (auto one = shown.begin(); one != shown.end(); ++one) view.shown[one.key()] = one->toBool();
  for (const QString& text : settings.value("sorts").toStringList()) {
    const bool descending = text.startsWith(QChar('-'));
    const QString key = descending ? text.mid(1) : text;
    if (!key.isEmpty() && view.sorts.size() < kMaxSorts) view.sorts.append({key, descending});
  }
  settings.endGroup();
  return view;
}

void saveRunView(QSettings& settings, const QString& name, const RunView& view) {
  settings.beginGroup(folderOf(name));
  QVariantMap widths, shown;
  for (auto width = view.widths.begin(); width != view.widths.end(); ++width)
    widths.insert(width.key(), *width);
  for (auto one = view.shown.begin(); one != view.shown.end(); ++one) shown.insert(one.key(), *one);
  QStringList sorts;
  for (const RunSort& sort : view.sorts)
    sorts << (sort.descending ? QStringLiteral("-") + sort.key : sort.key);
  settings.setValue("filter", view.filter);
  settings.setValue("added", view.added);
  settings.setValue("order", view.order);
  settings.setValue("pinned", view.pinned);
  settings.setValue("group", view.groups);
  settings.setValue("widths", widths);
  settings.setValue("shown", shown);
  settings.setValue("sorts", sorts);
  settings.endGroup();
}

void removeRunView(QSettings& settings, const QString& name) { settings.remove(folderOf(name)); }

QStringList namedRunViews(QSettings& settings) {
  QStringList names;
  settings.beginGroup(kViewsFolder);
  for (const QString& folder : settings.childGroups())
    names << QUrl::fromPercentEncoding(folder.toLatin1());
  settings.endGroup();
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace heddle::gui
