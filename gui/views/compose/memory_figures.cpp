#include "gui/views/compose/memory_figures.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/timeline/memory_colors.h"
#include "gui/views/compose/prediction_words.h"
#include "gui/widgets/focus_line.h"

namespace heddle::gui {
namespace {

constexpr int64_t kWorthTelling = 1 << 10;  // bytes
constexpr double kLimitAt = 0.91;           // of the bar, where the device has more than is needed

/// For a pipeline: which stage needs most memory, and how much the one with least needs.
QString stageWords(const plan::Document& d) {
  const auto of = [&](int64_t rank) {
    return std::ranges::find(d.ranks_shown, rank, &plan::RankFigures::rank);
  };
  const auto most = of(d.peak_rank);
  if (d.ranks_shown.size() < 2 || most == d.ranks_shown.end()) return {};
  const auto least = std::ranges::min_element(d.ranks_shown, {}, &plan::RankFigures::peak_bytes);
  return QObject::tr("stage %1 needs most, stage %2 least: %3")
      .arg(most->stage)
      .arg(least->stage)
      .arg(format::bytes(least->peak_bytes));
}

}  // namespace

MemoryFigures::MemoryFigures(QWidget* remedy, QWidget* parent)
    : QWidget(parent), grid_(new QGridLayout) {
  setObjectName(QStringLiteral("memory"));
  setCursor(Qt::PointingHandCursor);
  setToolTip(tr("Click: why"));
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(tr("Memory a rank"));
  new FocusLine(this);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  total_ = mono({});
  total_->setObjectName(QStringLiteral("memoryTotal"));
  total_->setStyleSheet(QStringLiteral("font-size: 18px; font-weight: 600;"));
  limit_ = label({}, "mono-muted");
  auto* head = new QHBoxLayout;
  head->setSpacing(6);
  QLabel* name = muted(tr("Memory a rank"));
  name->setStyleSheet(QStringLiteral("font-size: 12px;"));
  head->addWidget(name, 1, Qt::AlignBottom);
  head->addWidget(total_, 0, Qt::AlignBottom);
  head->addWidget(limit_, 0, Qt::AlignBottom);
  column->addLayout(head);
  bar_ = new StackedBar(22);
  column->addWidget(bar_);
  stage_ = caption({});
  stage_->setWordWrap(true);
  stage_->setObjectName(QStringLiteral("memoryStage"));
  room_ = label({}, "mono-muted");
  room_->setObjectName(QStringLiteral("memoryRoom"));
  room_->setStyleSheet(QStringLiteral("font-size: 11px;"));
  column->addWidget(room_, 0, Qt::AlignRight);
  column->addWidget(stage_);
  column->addWidget(remedy);
  grid_->setContentsMargins(0, 2, 0, 0);
  grid_->setHorizontalSpacing(8);
  grid_->setColumnStretch(1, 1);
  for (size_t i = 0; i < rows_.size(); ++i) {
    const int row = static_cast<int>(i);
    const auto category = static_cast<plan::Category>(i);
    rows_[i] = {new Swatch(colorOf(category)), mono({}), label({}, "mono-muted")};
    grid_->addWidget(rows_[i].swatch, row, 0);
    grid_->addWidget(label(nameOf(category)), row, 1);
    grid_->addWidget(rows_[i].bytes, row, 2, Qt::AlignRight);
    grid_->addWidget(rows_[i].share, row, 3, Qt::AlignRight);
  }
  setCompact(false);
  column->addLayout(grid_);
}

void MemoryFigures::setCompact(bool compact) { grid_->setVerticalSpacing(compact ? 1 : 5); }

void MemoryFigures::display(const plan::Document& d, const plan::Document* pinned, bool stale) {
  const Colors& c = colors();
  const auto peak = static_cast<double>(d.peak_bytes);
  const auto limit = static_cast<double>(d.limit_bytes);
  total_->setText(format::bytes(d.peak_bytes));
  setTone(total_, stale ? "muted" : d.fits() ? "" : "bad");
  limit_->setText(d.limit_bytes > 0 ? QStringLiteral("/ ") + format::bytes(d.limit_bytes)
                                    : QString());
  QVector<StackedBar::Part> parts;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const auto category = static_cast<plan::Category>(i);
    const int64_t held = d.memory[category];
    const QColor color = stale ? blend(c.surface, colorOf(category), 0.5) : colorOf(category);
    parts << StackedBar::Part{static_cast<double>(held), color,
                              QStringLiteral("%1 %2").arg(nameOf(category), format::bytes(held))};
    Row& row = rows_[i];
    row.swatch->setColor(color);
    row.bytes->setText(format::bytes(held < kWorthTelling ? 0 : held));
    const auto difference =
        pinned == nullptr
            ? Difference{format::percent(peak > 0 ? static_cast<double>(held) / peak : 0),
                         Tone::muted}
            : differenceOf(held, pinned->memory[category]);
    row.share->setText(difference.text);
    setTone(row.bytes, stale ? "muted" : "");
    setTone(row.share, stale || difference.tone == Tone::muted ? "muted"
                       : difference.tone == Tone::good         ? "good"
                                                               : "bad");
  }
  bar_->setParts(parts, std::max(peak, limit / kLimitAt));
  bar_->setMark(limit);
  setAccessibleDescription(total_->text() + QChar(' ') + limit_->text());
  stage_->setText(stageWords(d));
  stage_->setVisible(!stage_->text().isEmpty());
  QString room = d.limit_bytes == 0 ? QString()
                 : d.fits()
                     ? tr("%1 free").arg(format::bytes(d.limit_bytes - d.peak_bytes))
                     : tr("%1 over the limit").arg(format::bytes(d.peak_bytes - d.limit_bytes));
  if (pinned != nullptr) room = differenceOf(d.peak_bytes, pinned->peak_bytes).text;
  room_->setText(room);
  setTone(room_, !d.fits() && !stale ? "bad" : "muted");
}

void MemoryFigures::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space || event->key() == Qt::Key_Return) return Q_EMIT whyRequested();
  QWidget::keyPressEvent(event);
}

void MemoryFigures::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && rect().contains(event->position().toPoint()))
    Q_EMIT whyRequested();
}

}  // namespace heddle::gui
