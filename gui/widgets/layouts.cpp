#include "gui/widgets/layouts.h"

#include "gui/widgets/focus_line.h"

namespace heddle::gui {
namespace {

template <typename Layout>
Layout* arranged(QWidget* widget, const QMargins& around, int between) {
  auto* layout = new Layout(widget);
  layout->setContentsMargins(around);
  layout->setSpacing(between);
  return layout;
}

}  // namespace

QVBoxLayout* columnOf(QWidget* widget, const QMargins& around, int between) {
  return arranged<QVBoxLayout>(widget, around, between);
}

QHBoxLayout* rowOf(QWidget* widget, const QMargins& around, int between) {
  return arranged<QHBoxLayout>(widget, around, between);
}

QHBoxLayout* headRow(QWidget* head, int side) {
  head->setFixedHeight(48);
  return rowOf(head, {side, 0, side, 0}, 12);
}

QScrollArea* scrolled(QWidget* content, QWidget* parent) {
  auto* area = new QScrollArea(parent);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  content->setProperty("role", "page");
  area->setWidget(content);
  content->setAutoFillBackground(false);
  area->viewport()->setAutoFillBackground(false);
  new FocusLine(area);
  return area;
}

}  // namespace heddle::gui
