#include "gui/views/live/source_strip.h"

#include <QPainter>
#include <algorithm>
#include <numeric>

#include "gui/format.h"
#include "gui/theme/source_colors.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kSide = 16, kTop = 8, kLine = 20, kStripBar = 12, kTitle = 132;
constexpr int kSwatch = 10, kGap = 8, kEntry = 300;  // an entry of the legend, at least so wide

}  // namespace

SourceStrip::SourceStrip(QWidget* parent) : QFrame(parent), bar_(new StackedBar(kStripBar, this)) {
  setProperty("role", "card");
  setObjectName(QStringLiteral("sources"));
  setAccessibleName(tr("Tokens by source"));
  bar_->setAccessibleName(tr("Tokens by source"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&Theme::instance(), &Theme::changed, this, &SourceStrip::refresh);
  hide();
}

void SourceStrip::setSources(std::vector<recipe::DataSource> sources, std::vector<double> tokens,
                             double before) {
  sources_ = std::move(sources);
  tokens_ = std::move(tokens);
  before_ = before;
  setVisible(sources_.size() > 1);
  refresh();
}

void SourceStrip::setStale(bool stale) {
  if (std::exchange(stale_, stale) != stale) refresh();
}

double SourceStrip::seen() const { return std::accumulate(tokens_.begin(), tokens_.end(), 0.0); }

/// Its share and its tokens.
QStringList SourceStrip::textsOf(size_t source) const {
  const QString wished = format::percent(sources_[source].share);
  if (tokens_.size() != sources_.size() || seen() == 0)
    return {tr("target %1").arg(wished), format::kNone};
  return {tr("%1 of %2").arg(format::percent(tokens_[source] / seen()), wished),
          tr("%1 tokens").arg(format::shortCount(tokens_[source]))};
}

QStringList SourceStrip::lines() const {
  QStringList lines;
  for (size_t i = 0; i < sources_.size(); ++i)
    lines << QString::fromStdString(sources_[i].name) + QChar(' ') +
                 textsOf(i).join(QStringLiteral(", "));
  return lines;
}

void SourceStrip::refresh() {
  const Colors& c = colors();
  const bool known = tokens_.size() == sources_.size() && seen() > 0;
  QVector<StackedBar::Part> parts;
  const QStringList texts = lines();
  for (size_t i = 0; i < sources_.size(); ++i) {
    const QColor color = stale_ ? blend(c.surface, sourceColor(i), 0.5) : sourceColor(i);
    if (known) parts << StackedBar::Part{tokens_[i], color, texts[static_cast<qsizetype>(i)]};
  }
  bar_->setParts(parts);
  setAccessibleDescription(texts.join(QStringLiteral("; ")));
  QString tip =
      tr("Each source's share of the tokens seen, and the share that its weight asks for.");
  if (before_ > 0)
    tip += tr(" %1 earlier tokens came from other data.").arg(format::shortCount(before_));
  setToolTip(format::inLines(tip));
  arrange();
  update();
}

int SourceStrip::perRow() const { return std::max(1, (width() - 2 * kSide) / kEntry); }

void SourceStrip::arrange() {
  const int rows = (static_cast<int>(sources_.size()) + perRow() - 1) / perRow();
  setFixedHeight(2 * kTop + kLine + rows * kLine);
  bar_->setGeometry(kSide + kTitle, kTop + (kLine - kStripBar) / 2, width() - 2 * kSide - kTitle,
                    kStripBar);
}

void SourceStrip::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  arrange();
}

void SourceStrip::paintEvent(QPaintEvent* event) {
  QFrame::paintEvent(event);
  const Colors& c = colors();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(font::text(12));
  painter.setPen(c.muted);
  painter.drawText(QRect(kSide, kTop, kTitle, kLine), Qt::AlignLeft | Qt::AlignVCenter,
                   before_ > 0 ? tr("Tokens of this data") : tr("Tokens by source"));
  const int room = (width() - 2 * kSide) / perRow();
  for (size_t i = 0; i < sources_.size(); ++i) {
    const int at = static_cast<int>(i), left = kSide + at % perRow() * room;
    const int top = kTop + kLine * (1 + at / perRow());
    painter.setPen(Qt::NoPen);
    painter.setBrush(stale_ ? c.other : sourceColor(i));
    painter.drawRoundedRect(QRectF(left, top + (kLine - kSwatch) / 2.0, kSwatch, kSwatch), 2, 2);
    const QString figures = textsOf(i).join(QStringLiteral("  "));
    painter.setFont(font::mono(12));
    const int figuresWidth = painter.fontMetrics().horizontalAdvance(figures);
    painter.setFont(font::text(12));
    const int nameRoom = room - kSwatch - 3 * kGap - figuresWidth;
    const QString name = painter.fontMetrics().elidedText(QString::fromStdString(sources_[i].name),
                                                          Qt::ElideMiddle, std::max(24, nameRoom));
    const int nameLeft = left + kSwatch + kGap;
    painter.setPen(stale_ ? c.muted : c.text);
    painter.drawText(QRect(nameLeft, top, room, kLine), Qt::AlignLeft | Qt::AlignVCenter, name);
    const int figuresLeft = nameLeft + painter.fontMetrics().horizontalAdvance(name) + kGap;
    painter.setFont(font::mono(12));
    painter.setPen(c.muted);
    painter.drawText(QRect(figuresLeft, top, room, kLine), Qt::AlignLeft | Qt::AlignVCenter,
                     figures);
  }
}

}  // namespace heddle::gui
