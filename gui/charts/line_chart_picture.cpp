// A chart as a picture: its title, all names of its curves, and the plot as it is on screen.
#include <algorithm>

#include "gui/charts/legend.h"
#include "gui/charts/line_chart.h"
#include "gui/theme/qcustomplot.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kHead = 36, kAround = 16;
constexpr int kEntryStroke = 18, kEntryGap = 6, kBetweenEntries = 14, kEntryLine = 18;

struct PlacedEntry {
  LegendEntry entry;
  QRect place;
};

/// Names one after the other, in as many lines as they need.
std::vector<PlacedEntry> placed(const QVector<LegendEntry>& entries, int width) {
  const QFontMetrics metrics(font::caption());
  std::vector<PlacedEntry> all;
  QPoint at(kAround, kHead);
  for (const LegendEntry& entry : entries) {
    const int wide = kEntryStroke + kEntryGap + metrics.horizontalAdvance(entry.name);
    if (at.x() > kAround && at.x() + wide > width - kAround)
      at = QPoint(kAround, at.y() + kEntryLine);
    all.push_back({entry, QRect(at, QSize(wide + 1, kEntryLine))});
    at.rx() += wide + kBetweenEntries;
  }
  return all;
}

int headHeight(const std::vector<PlacedEntry>& entries) {
  return entries.empty() ? kHead : entries.back().place.bottom() + 1 + kAround / 2;
}

}  // namespace

QSize LineChart::pictureSize() const {
  return {plot_->width() + 8,
          headHeight(placed(legendEntries(), plot_->width() + 8)) + plot_->height() + 4};
}

void LineChart::paintOn(QPaintDevice& device, const QSize& size) {
  QCPPainter painter(&device);
  painter.setMode(QCPPainter::pmVectorized);
  painter.fillRect(QRect({}, size), colors().surface);
  painter.setPen(colors().text);
  painter.setFont(font::text(13, QFont::DemiBold));
  const QRect head(kAround, 0, size.width() - 2 * kAround, kHead);
  painter.drawText(head, Qt::AlignLeft | Qt::AlignVCenter, title());
  const int titled = painter.fontMetrics().horizontalAdvance(title()) + 12;
  painter.setPen(colors().muted);
  painter.setFont(font::caption());
  painter.drawText(head.adjusted(titled, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, note());
  const auto entries = placed(legendEntries(), size.width());
  for (const PlacedEntry& each : entries) {
    const QRect& place = each.place;
    paintRunStroke(painter, QRectF(place.left(), place.top(), kEntryStroke, place.height()),
                   {each.entry.color, each.entry.marker}, each.entry.width);
    painter.setPen(colors().muted);
    painter.drawText(place.adjusted(kEntryStroke + kEntryGap, 0, 0, 0), Qt::AlignVCenter,
                     each.entry.name);
  }
  painter.translate(4, headHeight(entries));
  plot_->toPainter(&painter, plot_->width(), plot_->height());
}

}  // namespace heddle::gui
