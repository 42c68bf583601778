#include "gui/views/compare/color_legend.h"

#include <QPainter>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kEntryStroke = 18, kBetweenEntries = 14;

}  // namespace

ColorLegend::ColorLegend(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("colorLegend"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  hide();
}

void ColorLegend::setColoring(const QString& key, const RunColoring& coloring) {
  key_ = key;
  entries_ = coloring.legend;
  scale_ = coloring.scale;
  QStringList texts;
  for (const auto& entry : entries_) texts << entry.text;
  setAccessibleName(tr("Colours by %1: %2").arg(key, texts.join(QStringLiteral(", "))));
  setToolTip(entries_.empty() ? QString() : accessibleName());
  setVisible(!entries_.empty());
  update();
}

void ColorLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(font::mono(11));
  painter.setPen(colors().muted);
  const QFontMetrics metrics = painter.fontMetrics();
  int x = 0;
  const auto write = [&](const QString& text, const QColor& color) {
    painter.setPen(color);
    painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter | Qt::AlignLeft, text);
    x += metrics.horizontalAdvance(text);
  };
  write(key_, colors().muted);
  x += kBetweenEntries;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const int needs = kEntryStroke + 5 + metrics.horizontalAdvance(entries_[i].text);
    const QString more = tr("%1 more").arg(entries_.size() - i);
    if (i + 1 < entries_.size() &&
        x + needs + kBetweenEntries + metrics.horizontalAdvance(more) > width())
      return write(more, colors().muted);
    const QRectF box(x, 0, kEntryStroke, height());
    if (scale_)
      painter.fillRect(QRectF(x, height() / 2.0 - 5, kEntryStroke, 10), entries_[i].stroke.color);
    else
      paintRunStroke(painter, box, entries_[i].stroke);
    x += kEntryStroke + 5;
    write(entries_[i].text, colors().text);
    x += kBetweenEntries;
  }
}

}  // namespace heddle::gui
