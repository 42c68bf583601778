#include "gui/views/compose/page_parts.h"

namespace heddle::gui {

QScrollArea* scrolled(QWidget* widget, QWidget* parent) {
  auto* area = new QScrollArea(parent);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  widget->setProperty("role", "page");
  area->setWidget(widget);
  return area;
}

QHBoxLayout* headRow(QWidget* head, int side) {
  head->setFixedHeight(48);
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(side, 0, side, 0);
  row->setSpacing(12);
  return row;
}

}  // namespace heddle::gui
