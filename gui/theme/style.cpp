#include "gui/theme/style.h"

#include <QLabel>
#include <QPainter>
#include <QStyleOption>

#include "gui/theme/icons.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kIndicator = 14;

void drawCheck(const QStyleOption* option, QPainter* painter) {
  const Colors& c = colors();
  const bool on = option->state & (QStyle::State_On | QStyle::State_NoChange);
  const bool focus = option->state & QStyle::State_HasFocus;
  QRectF box(0, 0, kIndicator, kIndicator);
  box.moveCenter(QRectF(option->rect).center());
  box.adjust(0.5, 0.5, -0.5, -0.5);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(QPen(on || focus ? c.accent : c.other, 1));
  painter->setBrush(on ? c.accent : c.surface);
  painter->drawRoundedRect(box, 3, 3);
  painter->setPen(QPen(c.onAccent, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  const QPointF origin = box.topLeft();
  if (option->state & QStyle::State_NoChange)
    painter->drawLine(origin + QPointF(3, 6.5), origin + QPointF(10, 6.5));
  else if (on)
    painter->drawPolyline(QPolygonF(
        {origin + QPointF(3, 6.8), origin + QPointF(5.6, 9.4), origin + QPointF(10.2, 3.8)}));
  painter->restore();
}

/// Empty: none of ours is like it.
QString iconName(QStyle::StandardPixmap which) {
  switch (which) {
    case QStyle::SP_DirIcon:
    case QStyle::SP_DirOpenIcon:
    case QStyle::SP_DirClosedIcon:
    case QStyle::SP_DirHomeIcon:
    case QStyle::SP_DirLinkIcon:
      return QStringLiteral("folder");
    case QStyle::SP_FileIcon:
    case QStyle::SP_FileLinkIcon:
      return QStringLiteral("file");
    case QStyle::SP_ComputerIcon:
    case QStyle::SP_DesktopIcon:
    case QStyle::SP_DriveHDIcon:
      return QStringLiteral("host");
    case QStyle::SP_ArrowBack:
    case QStyle::SP_ArrowLeft:
      return QStringLiteral("chevron-left");
    case QStyle::SP_ArrowForward:
    case QStyle::SP_ArrowRight:
      return QStringLiteral("chevron-right");
    case QStyle::SP_FileDialogToParent:
      return QStringLiteral("chevron-up");
    case QStyle::SP_FileDialogNewFolder:
      return QStringLiteral("plus");
    case QStyle::SP_FileDialogListView:
      return QStringLiteral("runs");
    case QStyle::SP_FileDialogDetailedView:
      return QStringLiteral("columns");
    default:
      return {};
  }
}

}  // namespace

Style::Style() : QProxyStyle(QStringLiteral("Fusion")) {}

void Style::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                          const QWidget* widget) const {
  if (element == PE_IndicatorCheckBox || element == PE_IndicatorItemViewItemCheck)
    return drawCheck(option, painter);
  QProxyStyle::drawPrimitive(element, option, painter, widget);
}

int Style::pixelMetric(PixelMetric metric, const QStyleOption* option,
                       const QWidget* widget) const {
  if (metric == PM_IndicatorWidth || metric == PM_IndicatorHeight) return kIndicator;
  if (metric == PM_SmallIconSize || metric == PM_ButtonIconSize) return 16;
  return QProxyStyle::pixelMetric(metric, option, widget);
}

QIcon Style::standardIcon(StandardPixmap which, const QStyleOption* option,
                          const QWidget* widget) const {
  const QString name = iconName(which);
  return name.isEmpty() ? QProxyStyle::standardIcon(which, option, widget)
                        : icon(name, Tone::muted);
}

void Style::polish(QWidget* widget) {
  if (auto* label = qobject_cast<QLabel*>(widget); label && label->textFormat() == Qt::AutoText)
    label->setTextFormat(Qt::PlainText);
  QProxyStyle::polish(widget);
}

int Style::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                     QStyleHintReturn* data) const {
  if (hint == SH_DialogButtonBox_ButtonsHaveIcons) return 0;
  return QProxyStyle::styleHint(hint, option, widget, data);
}

}  // namespace heddle::gui
