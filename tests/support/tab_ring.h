// Where Tab leads, forward and back: the widgets that it misses, whether its order is the reading
// order, and whether the focus is visible.
#pragma once

#include <QApplication>
#include <QButtonGroup>
#include <QImage>
#include <QPixmap>
#include <QTest>
#include <functional>

#include "tests/support/by_name.h"

namespace heddle {

struct TabRound {
  QList<QWidget*> reached;
  QString trap;  // where Tab gets stuck; empty: it returned to its start
};

/// Presses Tab, or Shift+Tab, until the focus is back where it began. Calls `at` for each stop.
inline TabRound tabRound(QWidget* window, Qt::Key key = Qt::Key_Tab,
                         const std::function<void(QWidget*)>& at = {}) {
  constexpr int kMaxStays = 200;  // from link to link in a text
  TabRound round;
  if (!QApplication::focusWidget()) window->setFocus();
  int stays = 0;
  for (int presses = 0; presses < 2000; ++presses) {
    QWidget* before = QApplication::focusWidget();
    QTest::keyClick(before ? before : window, key,
                    key == Qt::Key_Backtab ? Qt::ShiftModifier : Qt::NoModifier);
    QWidget* now = QApplication::focusWidget();
    if (now && now == before && ++stays < kMaxStays) continue;
    stays = 0;
    if (now && !round.reached.contains(now)) {
      round.reached << now;
      if (at) at(now);
      continue;
    }
    if (now && now != round.reached.first()) round.trap = describe(now);
    if (!now) round.trap = QStringLiteral("nothing has the focus");
    if (now && at) at(now);
    break;
  }
  return round;
}

/// Whether the arrow keys reach it from another member of its group.
inline bool isReachedByArrows(const QWidget* widget, const QList<QWidget*>& reached) {
  const auto* button = qobject_cast<const QAbstractButton*>(widget);
  if (!button || !button->group()) return false;
  for (QAbstractButton* other : button->group()->buttons())
    if (reached.contains(other)) return true;
  return false;
}

/// A line for each enabled, interactive widget that neither Tab nor arrows reach, and for a trap.
inline QStringList unreached(const QWidget* window, const TabRound& round) {
  QStringList faults;
  if (!round.trap.isEmpty()) faults << QStringLiteral("trap: ") + round.trap;
  for (QWidget* widget : interactiveIn(window)) {
    const bool proxied = widget->focusProxy() != nullptr;
    if (!widget->isEnabled() || proxied || round.reached.contains(widget) ||
        isReachedByArrows(widget, round.reached))
      continue;
    faults << QStringLiteral("not reached: ") + describe(widget);
  }
  if (!faults.isEmpty()) {
    QStringList way;
    for (const QWidget* widget : round.reached) way << nameOf(widget).left(24);
    faults << QStringLiteral("the way: ") + way.join(QStringLiteral(" > "));
  }
  return faults;
}

/// Whether one reads `after` before `before`: it is above and not in a column to the right, or left
/// in the same row. Compares the children of their nearest common parent that contain them.
inline bool isReadEarlier(const QWidget* after, const QWidget* before) {
  if (before->window() != after->window() || before->isAncestorOf(after) ||
      after->isAncestorOf(before))
    return false;
  while (!before->parentWidget()->isAncestorOf(after)) before = before->parentWidget();
  while (after->parentWidget() != before->parentWidget()) after = after->parentWidget();
  const QRect one = before->geometry(), second = after->geometry();
  const int shared = std::min(one.bottom(), second.bottom()) - std::max(one.top(), second.top());
  const bool sameRow = shared > std::min(one.height(), second.height()) / 2;
  const bool above = second.bottom() <= one.top() && second.left() < one.right();
  return above || (sameRow && second.right() <= one.left());
}

/// A line for each stop that should come before the previous one. A round goes back once, from its
/// end to its beginning.
inline QStringList outOfOrder(const TabRound& round) {
  QStringList faults;
  for (qsizetype i = 0; i < round.reached.size(); ++i) {
    const QWidget *before = round.reached[i],
                  *after = round.reached[(i + 1) % round.reached.size()];
    if (before != after && isReadEarlier(after, before))
      faults << QStringLiteral("out of order: ") + describe(after) +
                    QStringLiteral("\n    after ") + describe(before);
  }
  return faults.size() > 1 ? faults : QStringList();
}

/// Compares each stop's look with and without the focus.
class FocusWatch {
 public:
  void at(QWidget* stop) {
    if (stop_ && stop_ != stop && stop_->isVisible() && placeOf(stop_) == place_ &&
        pictureOf(stop_) == picture_)
      faults_ << QStringLiteral("the focus is not seen: ") + describe(stop_);
    stop_ = stop;
    place_ = placeOf(stop);
    picture_ = pictureOf(stop);
  }
  const QStringList& faults() const { return faults_; }

 private:
  static QRect placeOf(const QWidget* widget) {
    return QRect(widget->mapTo(widget->window(), QPoint()), widget->size()).adjusted(-3, -3, 3, 3);
  }
  static QImage pictureOf(QWidget* widget) {
    return widget->window()->grab(placeOf(widget) & widget->window()->rect()).toImage();
  }

  QPointer<QWidget> stop_;
  QRect place_;
  QImage picture_;
  QStringList faults_;
};

/// All of these checks for a window, a dialog or a popup.
inline QStringList tabFaults(QWidget* window) {
  FocusWatch watch;
  const TabRound there = tabRound(window, Qt::Key_Tab, [&](QWidget* stop) { watch.at(stop); });
  QStringList faults = unreached(window, there) + outOfOrder(there) + watch.faults();
  const TabRound back = tabRound(window, Qt::Key_Backtab);
  for (const QWidget* widget : there.reached)
    if (!back.reached.contains(widget))
      faults << QStringLiteral("not reached by Shift+Tab: ") + describe(widget);
  return faults;
}

}  // namespace heddle
