#include "gui/timeline/statistics_panel.h"

#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/timeline/span_text.h"

namespace heddle::gui {
namespace {

constexpr int kNumber = 72, kCount = 56, kSoonMs = 40;

QString timeOrNothing(int64_t us) { return us == 0 ? QStringLiteral("0") : duration(us); }

}  // namespace

void NameStatisticsModel::setRows(std::vector<NameStatistics> rows, int64_t availableUs) {
  beginResetModel();
  rows_ = std::move(rows);
  availableUs_ = availableUs;
  order();
  endResetModel();
}

int NameStatisticsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int NameStatisticsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant NameStatisticsModel::data(const QModelIndex& index, int role) const {
  const NameStatistics& row = at(index.row());
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      switch (column) {
        case Name:
          return QString::fromStdString(row.name);
        case Count:
          return format::count(row.count);
        case Total:
          return timeOrNothing(row.totalUs);
        case Mean:
          return timeOrNothing(row.meanUs());
        case Shortest:
          return timeOrNothing(row.shortestUs);
        case Longest:
          return timeOrNothing(row.longestUs);
        case Share:
          return availableUs_ > 0 ? format::percent(static_cast<double>(row.totalUs) /
                                                    static_cast<double>(availableUs_))
                                  : QString();
        default:
          return timeOrNothing(row.exposedUs);
      }
    case Qt::ToolTipRole:
      return column == Name ? QString::fromStdString(row.name) : QVariant();
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignVCenter | (column == Name ? Qt::AlignLeft : Qt::AlignRight));
    case Qt::FontRole:
      return column == Name ? font::text() : font::mono(12);
    case Qt::ForegroundRole:
      return column == Exposed && row.exposedUs > 0 ? colors().badText : colors().text;
    default:
      return {};
  }
}

QVariant NameStatisticsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Vertical) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant(Qt::AlignVCenter | (section == Name ? Qt::AlignLeft : Qt::AlignRight));
  if (role == Qt::ToolTipRole && section == Share)
    return tr("Of the selected time of all these ranks; what runs at once adds up to more than it");
  if (role == Qt::ToolTipRole && section == Exposed) return tr("Compute idles meanwhile");
  if (role != Qt::DisplayRole) return {};
  const QStringList names{tr("name"),     tr("count"),   tr("total"), tr("mean"),
                          tr("shortest"), tr("longest"), tr("share"), tr("exposed")};
  return names[section];
}

void NameStatisticsModel::sort(int column, Qt::SortOrder order) {
  beginResetModel();
  column_ = column;
  ascending_ = order == Qt::AscendingOrder;
  this->order();
  endResetModel();
}

void NameStatisticsModel::order() {
  const auto less = [this](const NameStatistics& a, const NameStatistics& b) {
    switch (column_) {
      case Name:
        return a.name < b.name;
      case Count:
        return a.count < b.count;
      case Mean:
        return a.meanUs() < b.meanUs();
      case Shortest:
        return a.shortestUs < b.shortestUs;
      case Longest:
        return a.longestUs < b.longestUs;
      case Exposed:
        return a.exposedUs < b.exposedUs;
      default:
        return a.totalUs < b.totalUs;
    }
  };
  std::stable_sort(rows_.begin(), rows_.end(), [&](const auto& a, const auto& b) {
    return ascending_ ? less(a, b) : less(b, a);
  });
}

StatisticsPanel::StatisticsPanel(TimelineWidget& timeline) : timeline_(timeline) {
  title_ = new ElidedLabel({}, "mono-muted");
  title_->setObjectName(QStringLiteral("statisticsOf"));
  by_ = new Segment({tr("operator"), tr("module"), tr("bucket")});
  by_->setObjectName(QStringLiteral("statisticsBy"));
  auto* close = iconButton(QStringLiteral("close"), tr("Close the statistics"));
  connect(close, &QToolButton::clicked, this, &StatisticsPanel::closed);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(12, 4, 4, 4);
  head->setSpacing(8);
  head->addWidget(title_, 1);
  head->addWidget(by_);
  head->addWidget(close);
  table_ = new FigureTable(QStringLiteral("statisticsTable"), tr("Statistics by name"), model_);
  table_->setFigureWidth(kNumber);
  table_->setColumnWidth(NameStatisticsModel::Count, kCount);
  table_->setColumnWidth(NameStatisticsModel::Share, kCount);
  table_->stretch({NameStatisticsModel::Name});
  table_->sortAlso(NameStatisticsModel::Total, Qt::DescendingOrder);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head);
  column->addWidget(table_, 1);
  soon_.setSingleShot(true);
  soon_.setInterval(kSoonMs);
  connect(&soon_, &QTimer::timeout, this, &StatisticsPanel::refresh);
  const auto refreshSoon = [this] {
    if (isVisible()) soon_.start();
  };
  connect(&timeline_, &TimelineWidget::selectionChanged, this, refreshSoon);
  connect(&timeline_, &TimelineWidget::rowsChanged, this, refreshSoon);
  connect(&timeline_, &TimelineWidget::currentRowChanged, this, refreshSoon);
  connect(&timeline_, &TimelineWidget::lanesChanged, this, refreshSoon);
  connect(by_, &Segment::currentChanged, this, &StatisticsPanel::refresh);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &StatisticsPanel::highlight);
}

void StatisticsPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

void StatisticsPanel::refresh() {
  std::vector<CountedRow> counted;
  int64_t available = 0;
  bool knowsBuckets = false;
  QString title;
  const auto& all = timeline_.rows();
  const int run = all.empty() ? 0 : all[std::min(timeline_.currentRow(), all.size() - 1)].run;
  for (size_t i = 0; i < all.size(); ++i) {
    const TimelineRow& row = all[i];
    if (!row.timeline || row.run != run || !timeline_.showsRow(i))
      continue;  // predictions are not added to measurements
    title = row.title;
    const workbench::BucketNames* buckets = row.plan ? &row.plan->buckets() : nullptr;
    knowsBuckets |= buckets && !buckets->empty();
    const auto& selection = timeline_.selection();
    const Interval range =
        selection ? Interval{selection->begin - row.shiftUs, selection->end - row.shiftUs}
                  : Interval{0, row.timeline->lengthUs()};
    counted.push_back({row.timeline.get(), range, buckets});
    available += range.length();
  }
  by_->button(2)->setEnabled(knowsBuckets);
  by_->button(2)->setToolTip(knowsBuckets ? QString() : tr("No plan is known that has buckets"));
  if (!knowsBuckets && by_->current() == 2) by_->setCurrent(0);
  const QString rows = counted.size() == 1
                           ? title
                           : format::plural(static_cast<qint64>(counted.size()), counted::kRank);
  title_->setFullText(
      timeline_.selection()
          ? tr("selection %1, %2").arg(duration(timeline_.selection()->length()), rows)
          : tr("whole step, %1").arg(rows));
  const QModelIndexList chosen = table_->selectionModel()->selectedRows();
  const std::string before =
      chosen.isEmpty() ? std::string() : model_.at(chosen.front().row()).name;
  model_.setRows(statisticsByName(counted, static_cast<GroupBy>(by_->current())), available);
  if (chosen.isEmpty()) return;
  for (int row = 0; row < model_.rowCount(); ++row)
    if (model_.at(row).name == before) return table_->selectRow(row);
  timeline_.setHighlight({});
}

void StatisticsPanel::highlight() {
  const QModelIndexList chosen = table_->selectionModel()->selectedRows();
  if (chosen.isEmpty()) return timeline_.setHighlight({});
  const auto by = static_cast<GroupBy>(by_->current());
  std::vector<std::shared_ptr<const workbench::StepPlan>> plans;
  for (const TimelineRow& row : timeline_.rows()) plans.push_back(row.plan);
  timeline_.setHighlight(
      [by, plans, name = model_.at(chosen.front().row()).name](size_t row, const auto& span) {
        const auto* buckets = row < plans.size() && plans[row] ? &plans[row]->buckets() : nullptr;
        return nameOf(span, by, buckets) == name;
      },
      Tested::everyLabel);
}

}  // namespace heddle::gui
