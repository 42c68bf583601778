#include "gui/theme/style.h"

#include <QPainter>
#include <QStyleOption>

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

int Style::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                     QStyleHintReturn* data) const {
  if (hint == SH_DialogButtonBox_ButtonsHaveIcons) return 0;
  return QProxyStyle::styleHint(hint, option, widget, data);
}

}  // namespace heddle::gui
