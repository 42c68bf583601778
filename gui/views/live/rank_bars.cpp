#include "gui/views/live/rank_bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "gui/format.h"
#include "gui/theme/icons.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kPitch = 24;
constexpr int kRankBar = 12;
constexpr int kNumber = 32;
constexpr int kValue = 92;

}  // namespace

RankBars::RankBars(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize RankBars::sizeHint() const {
  return {220, kPitch * std::max(1, static_cast<int>(ranks_.size()))};
}

void RankBars::setValues(std::vector<int32_t> ranks, std::vector<double> seconds,
                         const std::vector<int>& stages) {
  ranks_ = std::move(ranks);
  seconds_ = std::move(seconds);
  straggler_ = findStraggler(seconds_, stages);
  QStringList text;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    text << tr("rank %1: %2").arg(ranks_[i]).arg(format::seconds(seconds_[i]));
  }
  setAccessibleName(tr("Compute by rank"));
  setAccessibleDescription(text.join(QStringLiteral(", ")));
  setFixedHeight(sizeHint().height());
  update();
}

TextTable RankBars::table() const {
  TextTable table{tr("Compute by rank"), {tr("rank"), tr("compute")}, {}};
  for (size_t i = 0; i < ranks_.size(); ++i)
    table.rows.push_back({QString::number(ranks_[i]), format::seconds(seconds_[i])});
  return table;
}

void RankBars::setStale(bool stale) {
  if (stale_ == stale) return;
  stale_ = stale;
  update();
}

void RankBars::paintEvent(QPaintEvent*) {
  const Colors& c = colors();
  QPainter painter(this);
  if (ranks_.empty()) {
    painter.setFont(font::text(12));
    painter.setPen(c.muted);
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, tr("no step has reported its time"));
    return;
  }
  const double longest = *std::max_element(seconds_.begin(), seconds_.end());
  const int room = width() - kNumber - kValue;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const bool slow = !stale_ && straggler_ && straggler_->index == i;
    const int top = static_cast<int>(i) * kPitch;
    painter.setFont(font::mono(12));
    painter.setPen(slow ? c.warnText : c.muted);
    painter.drawText(QRect(0, top, kNumber, kPitch), Qt::AlignLeft | Qt::AlignVCenter,
                     QString::number(ranks_[i]));
    const QRect track(kNumber, top + (kPitch - kRankBar) / 2, room, kRankBar);
    painter.fillRect(track, c.window);
    const double share = longest > 0 ? seconds_[i] / longest : 0;
    painter.fillRect(QRect(track.topLeft(), QSize(static_cast<int>(share * 0.96 * room), kRankBar)),
                     stale_ ? c.other : c.compute);
    painter.setPen(slow ? c.warnText : stale_ ? c.muted : c.text);
    painter.drawText(QRect(kNumber + room + 10, top, kValue - 10, kPitch),
                     Qt::AlignLeft | Qt::AlignVCenter, format::seconds(seconds_[i]));
    if (slow) {
      painter.drawPixmap(width() - 16, top + (kPitch - 14) / 2,
                         iconPixmap(QStringLiteral("warning"), 14, c.warn, devicePixelRatioF()));
    }
  }
}

bool RankBars::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && straggler_) {
    const auto* help = static_cast<QHelpEvent*>(event);
    if (help->pos().y() / kPitch == static_cast<int>(straggler_->index)) {
      QToolTip::showText(help->globalPos(),
                         tr("rank %1 computes %2 longer than the median of its stage's other ranks")
                             .arg(ranks_[straggler_->index])
                             .arg(format::seconds(straggler_->behind)),
                         this);
      return true;
    }
  }
  return QWidget::event(event);
}

}  // namespace heddle::gui
