#include "gui/widgets/tab_order.h"

#include <QGridLayout>
#include <QScrollArea>
#include <QSplitter>
#include <algorithm>
#include <utility>
#include <vector>

namespace heddle::gui {
namespace {

constexpr const char* kAfter = "tabAfter";

using Place = std::pair<int, int>;  // from the top, then from the left

void addWidgetsOf(const QLayout& layout, QList<QWidget*>& all) {
  const auto* grid = qobject_cast<const QGridLayout*>(&layout);
  std::vector<std::pair<Place, QLayoutItem*>> items;
  for (int i = 0; i < layout.count(); ++i) {
    int row = 0, column = i, rows = 0, columns = 0;
    if (grid) grid->getItemPosition(i, &row, &column, &rows, &columns);
    // One next to several rows is read after them, at the left before.
    items.emplace_back(Place{grid && column > 0 ? row + rows - 1 : row, column}, layout.itemAt(i));
  }
  std::ranges::stable_sort(items, {}, &std::pair<Place, QLayoutItem*>::first);
  for (const auto& [place, item] : items) {
    if (item->widget()) all << item->widget();
    if (item->layout()) addWidgetsOf(*item->layout(), all);
  }
}

QList<QWidget*> childrenInOrder(const QWidget& whole) {
  QList<QWidget*> all;
  if (whole.layout()) addWidgetsOf(*whole.layout(), all);
  if (const auto* splitter = qobject_cast<const QSplitter*>(&whole))
    for (int i = 0; i < splitter->count(); ++i) all << splitter->widget(i);
  QList<QWidget*> others;
  for (QWidget* child : whole.findChildren<QWidget*>(Qt::FindDirectChildrenOnly))
    if (!child->isWindow() && !all.contains(child)) others << child;
  std::ranges::stable_sort(others, {}, [](const QWidget* child) {
    return Place{child->y(), child->x()};
  });
  return all + others;
}

/// The widget and all that one sees in it, each before its children.
void addVisible(QWidget& whole, QList<QWidget*>& all) {
  all << &whole;
  for (QWidget* child : childrenInOrder(whole))
    if (!child->isHidden()) addVisible(*child, all);
}

QList<QWidget*> visibleIn(QWidget& window) {
  QList<QWidget*> all;
  addVisible(window, all);
  for (QWidget* widget : QList<QWidget*>(all)) {
    auto* before = widget->property(kAfter).value<QWidget*>();
    if (!all.contains(before)) continue;
    all.removeOne(widget);
    all.insert(all.indexOf(before) + 1, widget);
  }
  return all;
}

/// One with a proxy, such as the line of a spin box, leaves the keyboard to it.
bool isStop(const QWidget& widget) {
  return widget.isEnabled() && !widget.focusProxy() &&
         (widget.focusPolicy() & Qt::TabFocus) == Qt::TabFocus;
}

void show(QWidget& stop) {
  for (QWidget* above = stop.parentWidget(); above; above = above->parentWidget())
    if (auto* area = qobject_cast<QScrollArea*>(above)) area->ensureWidgetVisible(&stop);
}

}  // namespace

bool moveFocus(QWidget& window, bool next) {
  const QList<QWidget*> all = visibleIn(window);
  const qsizetype count = all.size(),
                  from = std::max<qsizetype>(all.indexOf(window.focusWidget()), 0);
  for (qsizetype i = 1; i <= count; ++i) {
    QWidget* stop = all[(from + (next ? i : count - i)) % count];
    if (!isStop(*stop)) continue;
    stop->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
    show(*stop);
    return true;
  }
  return false;
}

QWidget* firstTabStop(QWidget& window) {
  for (QWidget* widget : visibleIn(window))
    if (isStop(*widget)) return widget;
  return nullptr;
}

void setTabAfter(QWidget& widget, QWidget& before) {
  widget.setProperty(kAfter, QVariant::fromValue(&before));
}

}  // namespace heddle::gui
