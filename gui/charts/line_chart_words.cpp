// Words in a chart at what they are about, where no curve or line goes through them.
#include <algorithm>
#include <array>

#include "gui/charts/curve_layer.h"
#include "gui/charts/line_chart.h"
#include "gui/theme/qcustomplot.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kSide = 4;       // between words and the edge around them
constexpr int kCovers = 1000;  // as many lines through them: other words, or an edge

/// The text in lines that fit; a longer word is shortened.
QString inLines(const QString& text, const QFontMetrics& metrics, int room) {
  QStringList lines;
  for (const QString& word : text.split(QLatin1Char(' '))) {
    const QString longer = lines.isEmpty() ? word : lines.last() + QLatin1Char(' ') + word;
    if (!lines.isEmpty() && metrics.horizontalAdvance(longer) <= room)
      lines.last() = longer;
    else
      lines << metrics.elidedText(word, Qt::ElideMiddle, room);
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

bool LineChart::showsMark() const {
  const Range x = xRange();
  return mark_ && mark_->x >= x.low && mark_->x <= x.high;
}

/// Runs after everything else has its place.
void LineChart::placeWords() {
  emptyCaption_->setText(
      inLines(emptyText_, QFontMetrics(emptyCaption_->font()), plot_->width() - 4 * kSide));
  placeMark();
  placeReferences();
}

/// Its words have a line of their own above the curves.
void LineChart::placeMark() {
  const bool visible = showsMark();
  markLine_->setVisible(visible);
  markLabel_->setVisible(visible);
  if (!visible) return;
  const QColor color = colorOf(mark_->tone);
  markLine_->setPen(QPen(color, 1, Qt::DashLine));
  markLine_->point1->setCoords(mark_->x, 0);
  markLine_->point2->setCoords(mark_->x, 1);
  const QFontMetrics metrics(font::caption());
  const int room = plot_->width() - 2 * kSide;
  const QString words = metrics.elidedText(mark_->label, Qt::ElideRight, room);
  const double width = metrics.horizontalAdvance(words);
  const double middle = plot_->xAxis->coordToPixel(mark_->x);
  markLabel_->setFont(font::caption());
  markLabel_->setColor(color);
  markLabel_->setText(words);
  markLabel_->position->setCoords(
      std::clamp(middle - width / 2, double{kSide}, std::max(kSide + room - width, double{kSide})),
      0);
}

/// How many lines go through a place.
int LineChart::linesThrough(const QRectF& place) const {
  const double mark = showsMark() ? plot_->xAxis->coordToPixel(mark_->x) : -1;
  return layer_->linesThrough(place) + (mark >= place.left() && mark <= place.right());
}

/// At the left or the right end of its line, above or below it.
void LineChart::placeReferences() {
  const bool visible = xExtent().valid();
  const QRectF area = plot_->axisRect()->rect();
  const QFontMetrics metrics(font::caption());
  const auto inside = [this](double value) { return plot_->yAxis->range().contains(value); };
  std::vector<QRectF> taken;
  for (size_t i = 0; i < references_.size(); ++i) {
    const auto& [line, label] = referenceItems_[i];
    const double value = references_[i].value;
    const QColor color = colorOf(references_[i].tone);
    line->setPen(QPen(color, 1, Qt::DashLine));
    line->point1->setCoords(0, value);
    line->point2->setCoords(1, value);
    line->setVisible(visible && inside(value));
    label->setVisible(visible && inside(value));
    label->setFont(font::caption());
    label->setColor(color);
    label->setBrush(colors().surface);
    const QSizeF size(metrics.horizontalAdvance(references_[i].label), metrics.height());
    const double y = plot_->yAxis->coordToPixel(value);
    const double left = area.left() + kSide, right = area.right() - kSide - size.width();
    const double above = y - size.height() - 1, below = y + 2;
    const std::array<QRectF, 4> places{QRectF({left, above}, size), QRectF({left, below}, size),
                                       QRectF({right, above}, size), QRectF({right, below}, size)};
    const auto cost = [&](const QRectF& place) {
      const bool covers =
          !area.contains(place) ||
          std::ranges::any_of(taken, [&](const QRectF& other) { return other.intersects(place); });
      return linesThrough(place) + (covers ? kCovers : 0);
    };
    const QRectF best = *std::ranges::min_element(places, {}, cost);
    label->position->setCoords(best.topLeft());
    if (label->visible()) taken.push_back(best);
  }
}

}  // namespace heddle::gui
