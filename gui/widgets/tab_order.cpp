#include "gui/widgets/tab_order.h"

#include <QGridLayout>
#include <QPointer>
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
    items.emplace_back(Place{row, column}, layout.itemAt(i));
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

bool isStop(const QWidget& widget) {
  const QWidget* proxy = widget.focusProxy();
  const bool isPart = proxy && proxy->isAncestorOf(&widget);  // such as the line of a spin box
  return widget.focusPolicy() != Qt::NoFocus && !isPart;
}

void addStops(QWidget& whole, QList<QWidget*>& stops) {
  if (isStop(whole)) stops << &whole;
  for (QWidget* child : childrenInOrder(whole))
    if (!child->isHidden()) addStops(*child, stops);
}

QWidget* nextStop(QWidget* from) {
  QWidget* at = from->nextInFocusChain();
  while (at != from && !isStop(*at)) at = at->nextInFocusChain();
  return at;
}

}  // namespace

void orderTabs(QWidget& window) {
  QList<QWidget*> stops;
  addStops(window, stops);
  for (QWidget* stop : QList<QWidget*>(stops)) {
    auto* before = stop->property(kAfter).value<QWidget*>();
    if (!stops.contains(before)) continue;
    stops.removeOne(stop);
    stops.insert(stops.indexOf(before) + 1, stop);
  }
  for (qsizetype i = 1; i < stops.size(); ++i)
    if (nextStop(stops[i - 1]) != stops[i]) QWidget::setTabOrder(stops[i - 1], stops[i]);
}

void setTabAfter(QWidget& widget, QWidget& before) {
  widget.setProperty(kAfter, QVariant::fromValue(&before));
}

}  // namespace heddle::gui
