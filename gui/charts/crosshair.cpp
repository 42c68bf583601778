#include "gui/charts/crosshair.h"

#include <QFontMetrics>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kTipLine = 17;
constexpr int kTipPadding = 10;
constexpr int kTipStroke = 20;

}  // namespace

Crosshair::Crosshair(QWidget* over) : QWidget(over) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setAttribute(Qt::WA_NoSystemBackground);
}

void Crosshair::show(double x, std::optional<double> y, const QRect& plot,
                     QVector<CrosshairLine> lines) {
  x_ = x;
  y_ = y;
  plot_ = plot;
  lines_ = std::move(lines);
  update();
}

void Crosshair::clear() {
  if (x_ < 0) return;
  x_ = -1;
  update();
}

void Crosshair::setBand(std::optional<std::pair<int, int>> band) {
  band_ = band;
  update();
}

/// As many as fit; the others are counted.
QVector<CrosshairLine> Crosshair::shownLines() const {
  const qsizetype fit = std::max(2, (height() - 22) / kTipLine);
  if (lines_.size() <= fit) return lines_;
  const qsizetype rows = fit - 2;
  qsizetype first = 1;
  if (y_) {
    const auto nearest = std::min_element(
        lines_.begin() + 1, lines_.end(),
        [this](const auto& a, const auto& b) { return std::abs(a.y - *y_) < std::abs(b.y - *y_); });
    first = std::clamp<qsizetype>(nearest - lines_.begin() - rows / 2, 1, lines_.size() - rows);
  }
  QVector<CrosshairLine> shown{lines_.first()};
  shown += lines_.mid(first, rows);
  shown.append({QObject::tr("and %1 more").arg(lines_.size() - shown.size())});
  return shown;
}

void Crosshair::paintEvent(QPaintEvent*) {
  const Colors& c = colors();
  QPainter painter(this);
  if (band_) {
    QColor tint = c.accent;
    tint.setAlphaF(0.15);
    painter.fillRect(QRect(band_->first, plot_.top(), band_->second - band_->first, plot_.height())
                         .intersected(plot_),
                     tint);
  }
  if (x_ < plot_.left() || x_ > plot_.right() + 1) return;
  painter.setPen(QPen(c.muted, 1));
  painter.drawLine(QPointF(x_, plot_.top()), QPointF(x_, plot_.bottom()));
  if (lines_.isEmpty()) return;

  const QVector<CrosshairLine> shown = shownLines();
  const auto indent = [](const CrosshairLine& line) {
    return line.color.isValid() ? kTipStroke : 0;
  };
  painter.setFont(font::mono(11));
  int width = 0;
  for (const CrosshairLine& line : shown) {
    width = std::max(width, painter.fontMetrics().horizontalAdvance(line.text) + indent(line));
  }
  QRect box(0, 0, width + 2 * kTipPadding, static_cast<int>(shown.size()) * kTipLine + 10);
  const bool fitsRight = x_ + 10 + box.width() <= plot_.right();
  box.moveTopLeft({static_cast<int>(fitsRight ? x_ + 10 : x_ - 10 - box.width()), plot_.top() + 6});
  if (box.left() < 2) box.moveLeft(2);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(c.line, 1));
  painter.setBrush(c.window);
  painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
  QRect at(box.left() + kTipPadding, box.top() + 5, width + 1, kTipLine);
  for (const CrosshairLine& line : shown) {
    if (line.color.isValid())
      paintRunStroke(painter, QRectF(at.left(), at.top(), 14, kTipLine), {line.color, line.marker});
    painter.setPen(line.color.isValid() ? c.text : c.muted);
    painter.drawText(at.adjusted(indent(line), 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     line.text);
    at.translate(0, kTipLine);
  }
}

}  // namespace heddle::gui
