#include "gui/views/compare/memory_bars.h"

#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/timeline/memory_colors.h"
#include "gui/views/compare/run_swatch.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/picture_menu.h"
#include "gui/widgets/stacked_bar.h"

namespace heddle::gui {
namespace {

constexpr double kPredictedOpacity = 0.55;
constexpr int kHighest = 420;  // more scroll
constexpr int kBarRow = 20, kMinRunName = 120, kMaxRunName = 260;
constexpr int kAround = 60, kLegendRow = 24;  // heights

double sizeOf(const MemoryBars::Peak& peak) {
  return peak.uses ? static_cast<double>(peak.uses->total()) : peak.bytes.value_or(0);
}

bool isKnown(const MemoryBars::Peak& peak) { return peak.uses || peak.bytes; }

QString nameOf(size_t category) { return QString::fromUtf8(plan::kCategoryNames[category]); }

QVector<StackedBar::Part> partsOf(const MemoryBars::Peak& peak, double opacity) {
  const Colors& c = colors();
  if (!peak.uses)
    return {{sizeOf(peak), blend(c.surface, c.muted, opacity), format::bytes(sizeOf(peak))}};
  QVector<StackedBar::Part> parts;
  for (size_t i = 0; i < plan::kCategories; ++i) {
    const auto bytes = static_cast<double>(peak.uses->bytes[i]);
    if (bytes > 0)
      parts.append({bytes, blend(c.surface, colorOf(static_cast<plan::Category>(i)), opacity),
                    nameOf(i) + QChar(' ') + format::bytes(bytes)});
  }
  return parts;
}

}  // namespace

MemoryBars::MemoryBars(QWidget* parent) : Card(tr("Memory"), parent), rows_(new QGridLayout) {
  setNote(tr("peak of the rank that holds most"));
  rows_->setHorizontalSpacing(8);
  rows_->setVerticalSpacing(3);
  rows_->setColumnStretch(2, 1);
  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 8, 0);
  column->addLayout(rows_);
  column->addStretch(1);
  legend_ = new QWidget;
  rowOf(legend_, {}, 4);
  body()->addWidget(legend_);
  QScrollArea* scroll = scrolled(content);
  scroll->setAccessibleName(tr("Memory by category"));
  body()->addWidget(scroll, 1);
  addControl(pictureButton(this, tr("Menu of memory"), [this] { return table(); }));
}

TextTable MemoryBars::table() const {
  TextTable table{tr("Peak memory"), {tr("run"), tr("kind"), tr("peak"), tr("difference")}, {}};
  for (size_t i = 0; i < plan::kCategories; ++i) table.heads << nameOf(i);
  for (const Run& run : runs_)
    for (const auto& [peak, kind] :
         {std::pair{&run.predicted, tr("predicted")}, std::pair{&run.measured, tr("measured")}}) {
      if (!isKnown(*peak)) continue;
      QStringList row{run.name, kind, format::bytes(sizeOf(*peak)), peak->difference};
      for (size_t i = 0; i < plan::kCategories; ++i)
        row << (peak->uses ? format::bytes(static_cast<double>(peak->uses->bytes[i])) : QString());
      table.rows.push_back(std::move(row));
    }
  return table;
}

void MemoryBars::display(const std::vector<Run>& runs) {
  runs_ = runs;
  clear(rows_);
  clear(legend_->layout());
  double most = 0;
  std::array<bool, plan::kCategories> used{};
  for (const Run& run : runs)
    for (const Peak* peak : {&run.predicted, &run.measured}) {
      most = std::max(most, sizeOf(*peak));
      for (size_t i = 0; i < plan::kCategories; ++i)
        used[i] = used[i] || (peak->uses && peak->uses->bytes[i] > 0);
    }
  const QFontMetrics letters(font::mono(12));
  int longest = kMinRunName;
  for (const Run& run : runs) longest = std::max(longest, letters.horizontalAdvance(run.name) + 4);
  int row = 0;
  for (const Run& run : runs) {
    if (!isKnown(run.predicted) && !isKnown(run.measured)) continue;
    auto* name = new ElidedLabel(run.name, "mono", Qt::ElideMiddle);
    name->setFixedWidth(std::min(longest, kMaxRunName));
    rows_->addWidget(new RunSwatch(run.stroke), row, 0);
    rows_->addWidget(name, row, 1);
    if (isKnown(run.predicted)) addBar(row++, run.predicted, most, tr("pred."), kPredictedOpacity);
    if (isKnown(run.measured)) addBar(row++, run.measured, most, tr("meas."), 1);
  }
  auto* legend = static_cast<QHBoxLayout*>(legend_->layout());
  for (size_t i = 0; i < plan::kCategories; ++i) {
    if (!used[i]) continue;
    legend->addWidget(new Swatch(colorOf(static_cast<plan::Category>(i))));
    legend->addWidget(caption(nameOf(i)));
    legend->addSpacing(6);
  }
  legend->addStretch(1);
  const bool explains = std::ranges::find(used, true) != used.end();
  legend_->setVisible(explains);
  setFixedHeight(std::min(row * kBarRow + kAround + (explains ? kLegendRow : 0), kHighest));
  setVisible(row > 0);
}

void MemoryBars::addBar(int row, const Peak& peak, double most, const QString& word,
                        double opacity) {
  auto* bar = new StackedBar(12);
  bar->setParts(partsOf(peak, opacity), most);
  auto* text = label(format::bytes(sizeOf(peak)) + QChar(' ') + word, "mono-muted");
  text->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  auto* difference = label(peak.difference, "mono-muted");
  difference->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  rows_->addWidget(bar, row, 2);
  rows_->addWidget(text, row, 3);
  rows_->addWidget(difference, row, 4);
}

}  // namespace heddle::gui
