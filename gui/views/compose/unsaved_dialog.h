// Asks what to do with unsaved text before another takes its place.
#pragma once

#include <QString>
#include <QStringList>
#include <QWidget>

namespace heddle::gui {

enum class Unsaved { save, discard, cancel };

/// `changes` are listed; none: only the text differs. Enter saves, Escape cancels: neither loses
/// anything. `saveAs`: a name is asked for first.
Unsaved askUnsaved(QWidget* parent, const QString& recipe, const QStringList& changes, bool saveAs);

}  // namespace heddle::gui
