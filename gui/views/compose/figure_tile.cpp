#include "gui/views/compose/figure_tile.h"

#include <QPainter>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kTileMargin = 10;

QColor textColor(Tone tone) {
  const Colors& c = colors();
  return tone == Tone::good ? c.goodText : tone == Tone::bad ? c.badText : c.muted;
}

/// The shorter one where the other has no room.
QString textThatFits(const QPainter& painter, int room, const QString& text,
                     const QString& shorter) {
  return painter.fontMetrics().horizontalAdvance(text) <= room ? text : shorter;
}

}  // namespace

FigureTile::FigureTile(QWidget* parent) : QAbstractButton(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setCursor(Qt::PointingHandCursor);
  setFocusPolicy(Qt::TabFocus);
  setAttribute(Qt::WA_Hover);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void FigureTile::setFigure(const FigureText& figure) {
  figure_ = figure;
  describe();
}

void FigureTile::setDifference(const Difference& difference) {
  difference_ = difference;
  describe();
}

void FigureTile::setStale(bool stale) {
  stale_ = stale;
  update();
}

void FigureTile::describe() {
  const QString number = figure_.value + QChar(' ') + figure_.unit;
  setAccessibleName(figure_.name);
  setAccessibleDescription(
      QStringList{number, figure_.note, difference_.text}.join(QStringLiteral(", ")));
  setToolTip(tr("%1: %2. %3. Click: why").arg(figure_.name, number, figure_.note));
  update();
}

void FigureTile::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = colors();
  painter.setPen(QPen(hasFocus() ? c.accent : c.line, 1));
  painter.setBrush(underMouse() ? c.raised : blend(c.surface, c.raised, 0.5));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), metric::radius,
                          metric::radius);
  const QRect inner = rect().adjusted(kTileMargin, 6, -kTileMargin, -6);
  painter.setFont(font::text(12));
  painter.setPen(c.muted);
  painter.drawText(inner, Qt::AlignLeft | Qt::AlignTop, figure_.name);

  const QRect middle(inner.left(), inner.top() + 15, inner.width(), 24);
  painter.setFont(font::mono(18, QFont::DemiBold));
  painter.setPen(stale_ ? c.muted : figure_.tone == Tone::bad ? c.badText : c.text);
  const int digits = painter.fontMetrics().horizontalAdvance(figure_.value);
  painter.drawText(middle, Qt::AlignLeft | Qt::AlignVCenter, figure_.value);
  painter.setFont(font::text(12));
  painter.setPen(c.muted);
  const QRect unit = middle.adjusted(digits + 5, 2, 0, 2);
  painter.drawText(unit, Qt::AlignLeft | Qt::AlignVCenter,
                   textThatFits(painter, unit.width(), figure_.unit, figure_.shortUnit));

  const bool differs = !difference_.text.isEmpty();
  painter.setFont(font::mono(11));
  painter.setPen(differs && !stale_ ? textColor(difference_.tone) : c.muted);
  painter.drawText(
      inner, Qt::AlignLeft | Qt::AlignBottom,
      differs ? textThatFits(painter, inner.width(), difference_.text, difference_.shortText)
              : textThatFits(painter, inner.width(), figure_.note, figure_.shortNote));
}

}  // namespace heddle::gui
