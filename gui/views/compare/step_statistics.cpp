#include "gui/views/compare/step_statistics.h"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/timeline/timeline_painter.h"
#include "gui/views/compare/run_swatch.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/focus_line.h"
#include "gui/widgets/stacked_bar.h"

namespace heddle::gui {
namespace {

constexpr size_t kBeside = 4;  // runs that fit side by side
constexpr int kNoted = 100;    // of the step: a hundredth is worth a colour, as in the steps below

QLabel* figure(const QString& text, const char* role = "mono") {
  QLabel* made = label(text, role);
  made->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  return made;
}

QString time(int64_t us) { return format::seconds(double(us) / 1e6); }

/// As the timeline draws it; kinds without a colour of their own are frames.
class PartSwatch : public QWidget {
 public:
  PartSwatch(std::optional<Kind> kind, const QColor& frame) : kind_(kind), frame_(frame) {
    setFixedSize(10, 10);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    if (kind_) return paintSwatch(painter, rect(), *kind_);
    painter.setPen(frame_);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }

 private:
  std::optional<Kind> kind_;
  QColor frame_;
};

}  // namespace

StepStatistics::StepStatistics(QWidget* parent) : QScrollArea(parent) {
  setAccessibleName(tr("How the step was spent"));
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  new FocusLine(this);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  title_ = section({});
  length_ = label({}, "mono-muted");
  auto* head = new QHBoxLayout;
  head->addWidget(title_);
  head->addWidget(length_, 1);
  table_ = new QGridLayout;
  table_->setHorizontalSpacing(8);
  table_->setVerticalSpacing(4);
  bars_ = new QGridLayout;
  bars_->setHorizontalSpacing(8);
  bars_->setVerticalSpacing(6);
  bars_->setColumnStretch(2, 1);
  auto* content = new QWidget;
  auto* layout = new QVBoxLayout(content);
  layout->setContentsMargins(16, 12, 16, 12);
  layout->setSpacing(10);
  layout->addLayout(head);
  layout->addLayout(table_);
  layout->addSpacing(4);
  layout->addWidget(section(tr("Where the time went")));
  layout->addLayout(bars_);
  layout->addStretch(1);
  setWidget(content);
  content->setAutoFillBackground(false);
  viewport()->setAutoFillBackground(false);
}

void StepStatistics::display(std::vector<Run> runs, std::optional<int64_t> selected,
                             std::optional<size_t> baseline) {
  runs_ = std::move(runs);
  baseline_ = baseline;
  clear(table_);
  clear(bars_);
  for (int column = 0; column < table_->columnCount(); ++column)
    table_->setColumnStretch(column, 0);
  title_->setText(selected ? tr("Selection") : tr("Whole step"));
  QStringList note;
  if (selected) note << time(*selected);
  if (baseline_) note << tr("from baseline");
  length_->setText(note.join(QStringLiteral(", ")));
  length_->setToolTip(baseline_ ? tr("Differences from %1").arg(runs_[*baseline_].name)
                                : QString());
  if (runs_.size() <= kBeside)
    showColumns();
  else
    showRows();
  showBars();
}

void StepStatistics::showColumns() {
  table_->setColumnStretch(1, 1);
  for (size_t i = 0; i < runs_.size(); ++i) {
    auto* name = new ElidedLabel(runs_[i].name, "mono", Qt::ElideMiddle);
    name->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    name->setMaximumWidth(72);
    table_->addWidget(name, 0, static_cast<int>(i) + 2);
  }
  if (runs_.size() == 2 && !baseline_) {
    QLabel* difference = figure(tr("diff."), "caption");
    difference->setToolTip(QStringLiteral("%1 − %2").arg(runs_[1].name, runs_[0].name));
    table_->addWidget(difference, 0, 4);
  }
  addRow(1, tr("compute"), Kind::backward, &Statistics::compute);
  addRow(2, tr("communication"), {}, &Statistics::communication);
  addRow(3, tr("hidden"), Kind::hidden, &Statistics::overlapped);
  addRow(4, tr("exposed"), Kind::exposed, &Statistics::exposed);
  addRow(5, tr("incl. waiting"), Kind::waiting, &Statistics::waiting);
  int row = 6;
  if (std::ranges::any_of(runs_, [](const Run& run) { return run.spent.bubble > 0; }))
    addRow(row++, tr("pipeline bubble"), Kind::waiting, &Statistics::bubble);
  addRow(row++, tr("idle"), {}, &Statistics::idle);
  table_->addWidget(section(tr("overlap")), row, 1);
  for (size_t i = 0; i < runs_.size(); ++i)
    table_->addWidget(overlapOf(i), row, static_cast<int>(i) + 2);
}

void StepStatistics::showRows() {
  table_->setColumnStretch(1, 1);
  const QStringList heads{tr("compute"), tr("exposed"), tr("idle"), tr("overlap")};
  for (int column = 0; column < heads.size(); ++column)
    table_->addWidget(figure(heads[column], "caption"), 0, column + 2);
  for (size_t i = 0; i < runs_.size(); ++i) {
    const int row = static_cast<int>(i) + 1;
    table_->addWidget(new RunSwatch(runs_[i].stroke), row, 0);
    table_->addWidget(new ElidedLabel(runs_[i].name, "mono", Qt::ElideMiddle), row, 1);
    table_->addWidget(cellOf(i, &Statistics::compute), row, 2);
    table_->addWidget(cellOf(i, &Statistics::exposed), row, 3);
    table_->addWidget(cellOf(i, &Statistics::idle), row, 4);
    table_->addWidget(overlapOf(i), row, 5);
  }
}

void StepStatistics::showBars() {
  const Colors& c = colors();
  int64_t longest = 1;
  for (const Run& run : runs_) longest = std::max(longest, run.spent.range);
  for (size_t i = 0; i < runs_.size(); ++i) {
    const Statistics& spent = runs_[i].spent;
    auto* name = new ElidedLabel(runs_[i].name, "mono", Qt::ElideMiddle);
    name->setFixedWidth(72);
    auto* bar = new StackedBar;
    bar->setParts({{double(spent.compute), c.compute, tr("compute %1").arg(time(spent.compute))},
                   {double(spent.exposed), c.exposed, tr("exposed %1").arg(time(spent.exposed))}},
                  double(longest));
    bars_->addWidget(new RunSwatch(runs_[i].stroke), static_cast<int>(i), 0);
    bars_->addWidget(name, static_cast<int>(i), 1);
    bars_->addWidget(bar, static_cast<int>(i), 2);
  }
}

void StepStatistics::addRow(int row, const QString& name, std::optional<Kind> kind, Part part) {
  const QColor frame = part == &Statistics::communication ? colors().hidden : colors().muted;
  table_->addWidget(new PartSwatch(kind, frame), row, 0);
  table_->addWidget(label(name), row, 1);
  for (size_t i = 0; i < runs_.size(); ++i)
    table_->addWidget(cellOf(i, part), row, static_cast<int>(i) + 2);
  if (runs_.size() == 2 && !baseline_) table_->addWidget(differenceOf(1, 0, part), row, 4);
}

QLabel* StepStatistics::cellOf(size_t run, Part part) const {
  return baseline_ && run != *baseline_ ? differenceOf(run, *baseline_, part)
                                        : figure(time(runs_[run].spent.*part));
}

QLabel* StepStatistics::overlapOf(size_t run) const {
  const double share = runs_[run].spent.overlap();
  if (!baseline_ || run == *baseline_) return figure(format::percent(share));
  const double points = (share - runs_[*baseline_].spent.overlap()) * 100;
  const QString size = QString::number(std::abs(points), 'f', 1);
  return figure(tr("%1 points")
                    .arg(size == QLatin1String("0.0") ? QStringLiteral("0")
                                                      : format::signedValue(size, points < 0)),
                "mono-muted");
}

QLabel* StepStatistics::differenceOf(size_t run, size_t from, Part part) const {
  const int64_t difference = runs_[run].spent.*part - runs_[from].spent.*part;
  QLabel* text =
      figure(difference == 0 ? QStringLiteral("0")
                             : format::signedValue(time(std::abs(difference)), difference < 0),
             "mono-muted");
  // Only of these two is it plain which way is better; and less than a hundredth of the step is no
  // news.
  const int64_t step = std::max(runs_[from].spent.range, runs_[run].spent.range);
  if (std::abs(difference) > step / kNoted &&
      (part == &Statistics::exposed || part == &Statistics::idle))
    setTone(text, difference < 0 ? "good" : "bad");
  return text;
}

}  // namespace heddle::gui
