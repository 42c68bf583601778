#include "gui/views/compare/memory_bars.h"

#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/compare/run_swatch.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/stacked_bar.h"

namespace heddle::gui {
namespace {

constexpr double kPredictedOpacity = 0.45;
constexpr int kLowest = 88;  // two runs

}  // namespace

MemoryBars::MemoryBars(QWidget* parent) : Card(tr("Memory"), parent), rows_(new QGridLayout) {
  setNote(tr("peak of a rank"));
  rows_->setHorizontalSpacing(8);
  rows_->setVerticalSpacing(3);
  rows_->setColumnStretch(2, 1);
  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 8, 0);
  column->addLayout(rows_);
  column->addStretch(1);
  QScrollArea* scroll = scrolled(content);
  scroll->setMinimumHeight(kLowest);
  body()->addWidget(scroll, 1);
}

void MemoryBars::display(const std::vector<Run>& runs) {
  clear(rows_);
  double most = 0;
  for (const Run& run : runs)
    most = std::max({most, run.measured.value_or(0), run.predicted.value_or(0)});
  int row = 0;
  for (const Run& run : runs) {
    if (!run.measured && !run.predicted) continue;
    auto* name = new ElidedLabel(run.name, "mono", Qt::ElideMiddle);
    name->setFixedWidth(88);
    rows_->addWidget(new RunSwatch(run.stroke), row, 0);
    rows_->addWidget(name, row, 1);
    if (run.predicted) addBar(row++, *run.predicted, most, kPredictedOpacity, tr("pred."));
    if (run.measured) addBar(row++, *run.measured, most, 1, tr("meas."));
  }
  setVisible(row > 0);
}

void MemoryBars::addBar(int row, double bytes, double most, double opacity, const QString& word) {
  const Colors& c = colors();
  auto* bar = new StackedBar(12);
  bar->setParts({{bytes, blend(c.surface, c.parameters, opacity), format::bytes(bytes)}}, most);
  auto* text = label(format::bytes(bytes) + QChar(' ') + word, "mono-muted");
  text->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  rows_->addWidget(bar, row, 2);
  rows_->addWidget(text, row, 3);
}

}  // namespace heddle::gui
