// Faults that a person would see in a window: texts cut, widgets over one another.
#pragma once

#include <QAbstractScrollArea>
#include <QLabel>
#include <QStringList>

namespace heddle {

/// A line for each visible label that is smaller than its text, and for each two visible widgets of
/// one parent that overlap.
inline QStringList misplaced(const QWidget& window) {
  QStringList faults;
  const auto name = [](const QWidget* widget) {
    const auto* label = qobject_cast<const QLabel*>(widget);
    return label ? '"' + label->text() + '"'
                 : QLatin1String(widget->metaObject()->className()) + ' ' + widget->objectName();
  };
  for (const QLabel* label : window.findChildren<QLabel*>()) {
    if (!label->isVisible() || label->text().isEmpty() || label->property("elides").toBool())
      continue;
    const int high = label->wordWrap() ? label->heightForWidth(label->width())
                                       : label->minimumSizeHint().height();
    if (label->height() < high || label->width() < label->minimumSizeHint().width())
      faults << QStringLiteral("%1 needs %2 x %3, has %4 x %5")
                    .arg(name(label))
                    .arg(label->minimumSizeHint().width())
                    .arg(high)
                    .arg(label->width())
                    .arg(label->height());
  }
  QList<const QWidget*> parents{&window};
  for (const QWidget* widget : window.findChildren<QWidget*>())
    if (widget->layout()) parents << widget;
  for (const QWidget* parent : parents) {
    QList<QWidget*> shown = parent->findChildren<QWidget*>(Qt::FindDirectChildrenOnly);
    shown.removeIf(
        [](const QWidget* widget) { return !widget->isVisible() || widget->isWindow(); });
    for (qsizetype i = 0; i < shown.size(); ++i)
      for (qsizetype k = i + 1; k < shown.size(); ++k)
        if (shown[i]->geometry().intersects(shown[k]->geometry()))
          faults << name(shown[i]) + QStringLiteral(" and ") + name(shown[k]) +
                        QStringLiteral(" overlap");
  }
  return faults;
}

}  // namespace heddle
