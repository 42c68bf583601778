#include "gui/timeline/timeline_legend.h"

#include <QPainter>
#include <array>

#include "gui/theme/theme.h"
#include "gui/timeline/timeline_painter.h"

namespace heddle::gui {
namespace {

constexpr int kSwatch = 12;
constexpr int kLegendGap = 6;
constexpr int kBetween = 14;
constexpr int kHigh = 20;

struct Entry {
  Kind kind;
  const char* name;
};
constexpr std::array kEntries{
    Entry{Kind::backward, QT_TRANSLATE_NOOP("heddle::gui::TimelineLegend", "compute")},
    Entry{Kind::hidden, QT_TRANSLATE_NOOP("heddle::gui::TimelineLegend", "hidden")},
    Entry{Kind::exposed, QT_TRANSLATE_NOOP("heddle::gui::TimelineLegend", "exposed")},
    Entry{Kind::optimizer, QT_TRANSLATE_NOOP("heddle::gui::TimelineLegend", "optimizer")},
    Entry{Kind::waiting, QT_TRANSLATE_NOOP("heddle::gui::TimelineLegend", "waiting")}};

QString restText(int shown) {
  const int all = static_cast<int>(kEntries.size());
  return shown == 0 ? TimelineLegend::tr("%1 colours").arg(all)
                    : TimelineLegend::tr("+%1 more").arg(all - shown);
}

int restWidth(int shown) {
  return QFontMetrics(font::caption()).horizontalAdvance(restText(shown));
}

}  // namespace

TimelineLegend::TimelineLegend(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  QStringList names;
  for (const Entry& entry : kEntries) names << tr(entry.name);
  setToolTip(
      names.join(QStringLiteral(", ")) + QLatin1Char('\n') +
      tr("hidden: communication while compute runs; exposed: communication while compute idles; "
         "waiting: compute idles until other ranks reach a collective; it counts as exposed"));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize TimelineLegend::sizeHint() const {
  const QFontMetrics metrics(font::caption());
  int width = -kBetween;
  for (const Entry& entry : kEntries) {
    width += kSwatch + kLegendGap + metrics.horizontalAdvance(tr(entry.name)) + kBetween;
  }
  return {width, kHigh};
}

QSize TimelineLegend::minimumSizeHint() const { return {restWidth(0) + 1, kHigh}; }

void TimelineLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(font::caption());
  painter.setPen(colors().text);
  int x = 0, shown = 0;
  const bool allFit = sizeHint().width() <= width();
  for (const Entry& entry : kEntries) {
    const int room = painter.fontMetrics().horizontalAdvance(tr(entry.name));
    const int after = allFit ? 0 : kBetween + restWidth(shown + 1);
    if (x + kSwatch + kLegendGap + room + after > width()) {
      painter.setPen(colors().muted);  // the rarest come last; the tooltip has all
      painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter, restText(shown));
      return;
    }
    ++shown;
    paintSwatch(painter, QRect(x, (height() - kSwatch + 2) / 2, kSwatch, kSwatch - 2), entry.kind);
    x += kSwatch + kLegendGap;
    painter.drawText(QRect(x, 0, room + 1, height()), Qt::AlignVCenter, tr(entry.name));
    x += room + kBetween;
  }
}

}  // namespace heddle::gui
