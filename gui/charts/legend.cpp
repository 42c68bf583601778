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
constexpr int kMaxName = 200;  // pixels

/// A long name must not hide the others.
QString shownName(const LegendEntry& entry) {
  return QFontMetrics(font::caption()).elidedText(entry.name, Qt::ElideMiddle, kMaxName);
}

int widthOf(const LegendEntry& entry) {
  return kStroke + kGap + QFontMetrics(font::caption()).horizontalAdvance(shownName(entry));
}

}  // namespace

Legend::Legend(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void Legend::setEntries(QVector<LegendEntry> entries) {
  if (entries == entries_) return;
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
  const auto rest = [this](qsizetype shown) { return tr("+%1").arg(entries_.size() - shown); };
  const bool allFit = sizeHint().width() <= width() + 1;
  int x = 0;
  for (qsizetype i = 0; i < entries_.size(); ++i) {
    const LegendEntry& entry = entries_[i];
    const int needed = widthOf(entry);
    // Entries that do not fit are counted, and the count needs room.
    const int after = kBetween + painter.fontMetrics().horizontalAdvance(rest(i + 1));
    if (!allFit && x + needed + after > width()) {
      painter.setPen(colors().muted);
      painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter, rest(i));
      return;
    }
    paintRunStroke(painter, QRectF(x, 0, kStroke, height()), {entry.color, entry.marker},
                   entry.width);
    painter.setPen(colors().muted);
    painter.drawText(QRect(x + kStroke + kGap, 0, needed, height()), Qt::AlignVCenter,
                     shownName(entry));
    x += needed + kBetween;
  }
}

}  // namespace heddle::gui
