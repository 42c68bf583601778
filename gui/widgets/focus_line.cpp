#include "gui/widgets/focus_line.h"

#include <QEvent>
#include <QPainter>

#include "gui/theme/theme.h"

namespace heddle::gui {

FocusLine::FocusLine(QWidget* of) : QWidget(of) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  of->installEventFilter(this);
  hide();
}

bool FocusLine::eventFilter(QObject* watched, QEvent* event) {
  switch (event->type()) {
    case QEvent::FocusIn:
    case QEvent::FocusOut:
      setVisible(event->type() == QEvent::FocusIn);
      [[fallthrough]];
    case QEvent::Resize:
      setGeometry(parentWidget()->rect());
      // Qt repaints the whole of a widget that scrolls below an overlapping one.
      setMask(QRegion(rect()) - QRegion(rect().adjusted(1, 1, -1, -1)));
      raise();
      break;
    default:
      break;
  }
  return QWidget::eventFilter(watched, event);
}

void FocusLine::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setPen(QPen(colors().accent, 1));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

}  // namespace heddle::gui
