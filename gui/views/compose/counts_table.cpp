#include "gui/views/compose/counts_table.h"

#include <QPushButton>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/stacked_bar.h"

namespace heddle::gui {
namespace {

constexpr int kBar = 40, kSpacing = 12;
constexpr int kTableWidth = 640;  // all columns, with the time and costs of a training
enum Column { kRanks, kRate, kEfficiency, kEfficiencyBar, kStep, kMemory, kCost, kTime, kCosts };

QString usd(double amount) {
  return QStringLiteral("$") +
         (amount < 100 ? format::significant(amount) : format::count(qRound64(amount)));
}

QWidget* bar(double share) {
  auto* bar = new StackedBar(8);
  bar->setFixedWidth(kBar);
  bar->setParts({{share, colors().accent, format::percent(share)}}, std::max(share, 1.0));
  return bar;
}

}  // namespace

CountsTable::CountsTable(QWidget* parent) : QWidget(parent) {
  QVBoxLayout* column = columnOf(this, {}, 12);
  auto* rows = new QWidget;
  QVBoxLayout* upwards = columnOf(rows);
  grid_ = new QGridLayout;
  grid_->setHorizontalSpacing(kSpacing);
  grid_->setVerticalSpacing(4);
  upwards->addLayout(grid_);
  upwards->addStretch(1);
  QWidget* table = scrolled(rows);
  table->setAccessibleName(tr("Layouts by number of ranks"));
  table->setMinimumWidth(kTableWidth);
  column->addWidget(table, 1);
  price_ = caption({});
  price_->setObjectName(QStringLiteral("price"));
  price_->setWordWrap(true);
  column->addWidget(price_);
  connect(&Theme::instance(), &Theme::changed, this, &CountsTable::fill);
}

void CountsTable::setCounts(const plan::RankCounts& all) {
  // Progress comes often, news seldom: links stay under the mouse meanwhile.
  if (all == all_) return;
  all_ = all;
  fill();
}

void CountsTable::fill() {
  const plan::RankCounts& all = all_;
  clear(grid_);
  price_->setText(
      all.counts.empty() ? QString()
      : all.usd_per_rank_hour
          ? tr("%1 a rank and hour: %2")
                .arg(usd(*all.usd_per_rank_hour), QString::fromStdString(all.price_source))
          : tr("No price of this hardware is known: usd_per_device_hour in a file of your own "
               "says what it costs."));
  if (all.counts.empty()) return;
  const auto head = [&](int column, const QString& text) {
    grid_->addWidget(caption(text), 0, column, Qt::AlignRight);
  };
  head(kRanks, tr("ranks"));
  head(kRate, tr("throughput"));
  head(kEfficiency, tr("efficiency"));
  head(kStep, tr("step"));
  head(kMemory, tr("memory"));
  if (all.usd_per_rank_hour) head(kCost, tr("1 M tokens"));
  if (all.tokens > 0) head(kTime, tr("training"));
  if (all.tokens > 0 && all.usd_per_rank_hour) head(kCosts, tr("costs"));
  for (size_t i = 0; i < all.counts.size(); ++i) addRow(static_cast<int>(i) + 1, all.counts[i]);
  grid_->setColumnStretch(kCosts + 1, 1);
}

void CountsTable::addRow(int row, const plan::RankCount& count) {
  const auto cell = [&](int column, const QString& text, const char* name) {
    QLabel* words = mono(text);
    words->setObjectName(QStringLiteral("%1 %2").arg(QLatin1String(name)).arg(count.ranks));
    grid_->addWidget(words, row, column, Qt::AlignRight);
  };
  if (!count.best) {
    grid_->addWidget(mono(format::count(count.ranks)), row, kRanks, Qt::AlignRight);
    QLabel* why = label(QString::fromStdString(count.why));
    why->setObjectName(QStringLiteral("why %1").arg(count.ranks));
    why->setWordWrap(true);
    setTone(why, "muted");
    grid_->addWidget(why, row, kRate, 1, kCosts - kRate + 2);
    return;
  }
  const plan::Found& best = *count.best;
  QPushButton* take = linkButton(format::count(count.ranks));
  take->setObjectName(QStringLiteral("take %1").arg(count.ranks));
  take->setToolTip(tr("Take over: %1").arg(QString::fromStdString(best.words)));
  connect(take, &QPushButton::clicked, this, [this, best] { Q_EMIT chosen(best); });
  grid_->addWidget(take, row, kRanks, Qt::AlignRight);
  cell(kRate, format::tokensPerSecond(best.tokens_per_second), "rate");
  if (const auto share = efficiency(all_, count)) {
    cell(kEfficiency, format::percent(*share), "efficiency");
    grid_->addWidget(bar(*share), row, kEfficiencyBar, Qt::AlignVCenter);
  }
  cell(kStep, format::seconds(best.step_seconds), "step");
  cell(kMemory, format::bytes(static_cast<double>(best.peak_bytes)), "memory");
  if (const auto cost = usd_per_million_tokens(all_, count)) cell(kCost, usd(*cost), "cost");
  if (const auto time = training_seconds(all_, count)) cell(kTime, format::seconds(*time), "time");
  if (const auto costs = training_usd(all_, count)) cell(kCosts, usd(*costs), "costs");
}

}  // namespace heddle::gui
