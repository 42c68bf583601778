#include "gui/timeline/memory_curve.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/timeline/memory_colors.h"
#include "gui/timeline/span_text.h"
#include "gui/timeline/timeline_layout.h"
#include "gui/widgets/focus_line.h"
#include "gui/widgets/picture_menu.h"

namespace heddle::gui {
namespace {

constexpr int kAbove = 18, kBelow = 4;  // room for the peak's words and under the zero line
constexpr double kFarLimit = 2.5;       // a limit this far above the peak would flatten the curve

QString bytes(double count) { return format::bytes(count); }

/// Words over the curve, on a ground of their own: its colours are any.
void paintWords(QPainter& painter, const QRectF& at, const QString& words, const QColor& color) {
  painter.fillRect(at.adjusted(-3, 0, 3, 0), colors().surface);
  painter.setPen(color);
  painter.drawText(at, Qt::AlignCenter, words);
}

}  // namespace

MemoryCurve::MemoryCurve(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("memoryCurve"));
  setAccessibleName(tr("Memory over the step"));
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);  // so that the menu key opens the menu
  new FocusLine(this);
  setPictureMenu(this, [this] { return table(); });
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void MemoryCurve::setMoments(std::shared_ptr<const std::vector<plan::MemoryMoment>> moments,
                             int64_t limit, const QString& whose) {
  moments_ = std::move(moments);
  limit_ = limit;
  title_ = whose.isEmpty() ? tr("memory") : tr("memory, %1").arg(whose);
  peak_ = -1;
  QString words;
  if (moments_ && !moments_->empty()) {
    const auto most = std::ranges::max_element(
        *moments_, {}, [](const plan::MemoryMoment& moment) { return moment.bytes.total(); });
    peak_ = most - moments_->begin();
    words =
        tr("%1: peak %2 at %3")
            .arg(title_, bytes(static_cast<double>(most->bytes.total())), duration(most->time_us));
  }
  setAccessibleDescription(words);
  update();
}

TextTable MemoryCurve::table() const {
  TextTable table{accessibleName(), {tr("time"), tr("total")}, {}};
  for (const char* category : plan::kCategoryNames) table.heads << QString::fromUtf8(category);
  if (peak_ < 0) return table;
  for (const plan::MemoryMoment& moment : moments()) {
    QStringList row{duration(moment.time_us), bytes(static_cast<double>(moment.bytes.total()))};
    for (const int64_t each : moment.bytes.bytes) row << bytes(static_cast<double>(each));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void MemoryCurve::setAxis(const TimeAxis& axis) {
  axis_ = axis;
  update();
}

double MemoryCurve::top() const {
  if (peak_ < 0) return 1;
  const auto peak = static_cast<double>(moments()[static_cast<size_t>(peak_)].bytes.total());
  const auto limit = static_cast<double>(limit_);
  return std::max(1.0, 1.04 * (limit <= peak * kFarLimit ? std::max(peak, limit) : peak));
}

double MemoryCurve::yOf(double bytes) const {
  return kAbove + (height() - kAbove - kBelow) * (1 - bytes / top());
}

int64_t MemoryCurve::momentAt(double timeUs) const {
  const auto after = std::ranges::upper_bound(moments(), timeUs, {}, [](const auto& moment) {
    return static_cast<double>(moment.time_us);
  });
  return after - moments().begin() - 1;
}

void MemoryCurve::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Colors& c = colors();
  painter.fillRect(rect(), c.surface);
  if (peak_ < 0) return;
  painter.setPen(QPen(blend(c.surface, c.line, 0.6), 0));
  for (const TimeTick& tick : timeTicks(axis_, 84)) {
    const double x = axis_.toPixel(tick.timeUs);
    painter.drawLine(QPointF(x, 0), QPointF(x, height()));
  }
  paintScale(painter);
  painter.save();
  painter.setClipRect(QRectF(axis_.left, 0, axis_.width + 1, height()));
  paintStack(painter);
  paintMarks(painter);
  painter.restore();
}

/// A column a pixel: the moment of it that holds most.
void MemoryCurve::paintStack(QPainter& painter) const {
  const auto columns = static_cast<int>(std::ceil(axis_.width));
  int64_t at = std::max<int64_t>(0, momentAt(axis_.beginUs));
  for (int column = 0; column < columns; ++column) {
    const double end = axis_.toTime(axis_.left + column + 1);
    if (axis_.toTime(axis_.left + column) > axis_.lengthUs) break;
    int64_t most = at;
    while (at + 1 < static_cast<int64_t>(moments().size()) &&
           static_cast<double>(moments()[static_cast<size_t>(at) + 1].time_us) < end) {
      ++at;
      if (moments()[static_cast<size_t>(at)].bytes.total() >
          moments()[static_cast<size_t>(most)].bytes.total())
        most = at;
    }
    double sum = 0, low = yOf(0);
    const auto& held = moments()[static_cast<size_t>(most)].bytes;
    for (size_t i = 0; i < plan::kCategories; ++i) {
      sum += static_cast<double>(held.bytes[i]);
      const double high = yOf(sum);
      painter.fillRect(QRectF(axis_.left + column, high, 1, low - high),
                       colorOf(static_cast<plan::Category>(i)));
      low = high;
    }
  }
}

void MemoryCurve::paintMarks(QPainter& painter) const {
  const Colors& c = colors();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(font::mono(11));
  const QFontMetricsF metrics(painter.font());
  const double right = axis_.left + axis_.width;
  const plan::MemoryMoment& peak = moments()[static_cast<size_t>(peak_)];
  const auto total = static_cast<double>(peak.bytes.total());
  const QPointF dot(axis_.toPixel(static_cast<double>(peak.time_us)), yOf(total));
  const auto limit = static_cast<double>(limit_);
  QRectF limitWords;
  if (limit_ > 0 && limit <= top()) {
    const double y = std::round(yOf(limit)) + 0.5;
    painter.setPen(QPen(c.surface, 3));  // it is seen on any colour
    painter.drawLine(QPointF(axis_.left, y), QPointF(right, y));
    painter.setPen(QPen(c.bad, 1, Qt::DashLine));
    painter.drawLine(QPointF(axis_.left, y), QPointF(right, y));
    const QString words = tr("limit %1").arg(bytes(limit));
    const double width = metrics.horizontalAdvance(words);
    limitWords = QRectF(right - 4 - width, y - 17, width, 15);
    if (limitWords.adjusted(-8, -8, 8, 8).contains(dot)) limitWords.moveLeft(axis_.left + 4);
    paintWords(painter, limitWords, words, c.badText);
  }
  if (dot.x() < axis_.left || dot.x() > right) return;
  painter.setPen(QPen(c.surface, 1));
  painter.setBrush(c.text);
  painter.drawEllipse(dot, 3.5, 3.5);
  const QString words = tr("peak %1").arg(bytes(total));
  const double width = metrics.horizontalAdvance(words);
  const double left = dot.x() + 8 + width < right - 110 ? dot.x() + 8 : dot.x() - 8 - width;
  QRectF at(std::max(axis_.left + 2, left), std::max(0.0, dot.y() - 17), width, 15);
  if (at.intersects(limitWords)) at.moveRight(limitWords.left() - 12);
  paintWords(painter, at, words, c.text);
}

void MemoryCurve::paintScale(QPainter& painter) const {
  const Colors& c = colors();
  const QRect column(metric::group, 0, TimelineLayout::kLabelWidth - metric::group - 8, height());
  const int middle = height() / 2;
  painter.setFont(font::text(13, QFont::DemiBold));
  painter.setPen(c.text);
  painter.drawText(QRect(column.left(), middle - 18, column.width(), 18),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(title_, Qt::ElideRight, column.width()));
  painter.setFont(font::mono(11));
  painter.setPen(c.muted);
  painter.drawText(QRect(column.left(), middle, column.width(), 16),
                   Qt::AlignLeft | Qt::AlignVCenter, tr("0 to %1").arg(bytes(top())));
}

bool MemoryCurve::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const double time = axis_.toTime(help->pos().x());
  const int64_t at = peak_ < 0 ? -1 : momentAt(time);
  if (help->pos().x() < axis_.left || at < 0) {
    QToolTip::hideText();
    return true;
  }
  const plan::MemoryBytes& held = moments()[static_cast<size_t>(at)].bytes;
  QStringList lines{
      tr("%1 at %2")
          .arg(bytes(static_cast<double>(held.total())), duration(static_cast<int64_t>(time)))};
  for (size_t i = 0; i < plan::kCategories; ++i)
    if (held.bytes[i] > 0)
      lines << QStringLiteral("%1 %2").arg(QLatin1String(plan::kCategoryNames[i]),
                                           bytes(static_cast<double>(held.bytes[i])));
  QToolTip::showText(help->globalPos(), lines.join(QChar('\n')), this);
  return true;
}

}  // namespace heddle::gui
