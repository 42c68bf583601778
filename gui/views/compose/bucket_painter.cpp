#include "gui/views/compose/bucket_painter.h"

#include "gui/format.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr double kTwoLines = 38;                 // a band that tall tells its parameters too
constexpr double kBoth = 240;                    // one that wide has room for bytes and time
constexpr double kNumber = 20, kTimeWidth = 50;  // "128", "16.6 ms"
constexpr double kBandMargin = 6;

}  // namespace

void paintBucket(QPainter& painter, const QRectF& band, const BucketList& list, int bucket,
                 bool current) {
  const Colors& c = colors();
  const Bucket& shown = list.buckets[bucket];
  static constexpr int kSlots[] = {0, 4, 3};
  const QColor color =
      list.known ? runStroke(kSlots[bucket % 3], Theme::instance().scheme()).color : c.other;
  painter.setPen(Qt::NoPen);
  painter.setBrush(blend(c.surface, color, 0.16));
  painter.drawRoundedRect(band, 3, 3);
  painter.setBrush(color);
  painter.drawRect(QRectF(band.left(), band.top(), 4, band.height()));
  if (current) {
    painter.setPen(QPen(c.accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(band.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
  }
  painter.setFont(font::mono(11));
  painter.setPen(blend(c.surface, c.text, 0.75));
  double left = band.left() + 4 + kBandMargin;
  if (list.known) {
    painter.drawText(QRectF(band.left() + 4, band.top(), kNumber, band.height()),
                     Qt::AlignVCenter | Qt::AlignRight, QString::number(bucket + 1));
    left = band.left() + 4 + kNumber + kBandMargin;
  }
  const bool timed = list.isTimed();
  const QString size = shown.gathered.isEmpty() || (timed && band.width() < kBoth)
                           ? QString()
                           : format::bytes(static_cast<double>(shown.mostGathered()));
  QRectF right = band.adjusted(0, 0, -kBandMargin, 0);
  if (timed) {
    painter.drawText(right, Qt::AlignVCenter | Qt::AlignRight,
                     shown.gatherSeconds > 0 ? format::seconds(shown.gatherSeconds) : QString());
    right.setRight(right.right() - kTimeWidth - (size.isEmpty() ? 0 : kBandMargin));
  }
  painter.drawText(right, Qt::AlignVCenter | Qt::AlignRight, size);
  if (!size.isEmpty())
    right.setRight(right.right() - kBandMargin - painter.fontMetrics().horizontalAdvance(size));
  const double room = right.right() - left;
  const bool large = QFontMetricsF(font::text(12)).horizontalAdvance(shown.name) <= room;
  painter.setFont(font::text(large ? 12 : 11));
  painter.setPen(c.text);
  const QString count =
      QObject::tr("%1 parameters").arg(format::shortCount(static_cast<double>(shown.elements)));
  const bool two = band.height() >= kTwoLines && shown.elements > 0 &&
                   QFontMetricsF(font::text(11)).horizontalAdvance(count) <= room;
  const QRectF line(left, two ? band.center().y() - 17 : band.top(), room,
                    two ? 17 : band.height());
  painter.drawText(
      line, Qt::AlignVCenter | Qt::AlignLeft,
      painter.fontMetrics().elidedText(shown.name, Qt::ElideMiddle, static_cast<int>(room)));
  if (!two) return;
  painter.setFont(font::text(11));
  painter.setPen(blend(c.surface, c.text, 0.75));
  painter.drawText(line.translated(0, 17), Qt::AlignVCenter | Qt::AlignLeft, count);
}

}  // namespace heddle::gui
