#include "gui/charts/legend.h"

#include <QFontMetrics>
#include <QPainter>

#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kStroke = 18;
constexpr int kGap = 6;
constexpr int kBetween = 14;

int widthOf(const LegendEntry& entry) {
  return kStroke + kGap + QFontMetrics(font::caption()).horizontalAdvance(entry.name);
}

}  // namespace

Legend::Legend(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void Legend::setEntries(QVector<LegendEntry> entries) {
  entries_ = std::move(entries);
  QStringList names;
  for (const LegendEntry& entry : entries_) names << entry.name;
  setAccessibleName(names.join(QStringLiteral(", ")));
  setToolTip(names.join(QLatin1Char('\n')));
  updateGeometry();
  update();
}

QSize Legend::sizeHint() const {
  int width = 0;
  for (const LegendEntry& entry : entries_) width += widthOf(entry) + kBetween;
  return {std::max(0, width - kBetween), 18};
}

void Legend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(font::caption());
  int x = 0;
  for (qsizetype i = 0; i < entries_.size(); ++i) {
    const LegendEntry& entry = entries_[i];
    const int needed = widthOf(entry);
    if (x + needed > width() + 1) {
      painter.setPen(colors().muted);
      const QString rest = tr("+%1").arg(entries_.size() - i);
      if (x + painter.fontMetrics().horizontalAdvance(rest) <= width()) {
        painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter, rest);
      }
      return;
    }
    paintRunStroke(painter, QRectF(x, 0, kStroke, height()), {entry.color, entry.marker},
                   entry.width);
    painter.setPen(colors().muted);
    painter.drawText(QRect(x + kStroke + kGap, 0, needed, height()), Qt::AlignVCenter, entry.name);
    x += needed + kBetween;
  }
}

}  // namespace heddle::gui
