#include "gui/views/runs/run_columns.h"

#include <QSignalBlocker>
#include <algorithm>
#include <ranges>
#include <utility>

#include "gui/format.h"

namespace heddle::gui {
namespace {

constexpr int kLowestName = 150;
constexpr int kWideName = 280;  // a name's width before other columns are hidden for it
constexpr int kWidest = 260;    // a column's, of its own accord
constexpr int kWidestName = 520;
constexpr int kMore = 40, kMoreCurve = 360;  // than needed, where there is room
constexpr int kMeasured = 300;               // rows
constexpr int kSmall = 28;                   // of boxes and stars

/// Columns that go first where there is no room for all; the drawer shows the same facts.
constexpr RunsModel::Column kSpared[] = {RunsModel::Recipe,  RunsModel::Duration, RunsModel::Tags,
                                         RunsModel::Exposed, RunsModel::Curve,    RunsModel::Memory,
                                         RunsModel::Best,    RunsModel::Created,  RunsModel::Rate,
                                         RunsModel::Target};

const QStringList& standardPins() {
  static const QStringList pins = {"check", "star", "state", "name"};
  return pins;
}

bool isSmall(int column) { return column == RunsModel::Check || column == RunsModel::Star; }

}  // namespace

RunColumns::RunColumns(QTableView* table, RunHeader* header, RunLines& lines, QScrollBar* scroll)
    : QObject(table),
      table_(table),
      header_(header),
      lines_(lines),
      scroll_(scroll),
      pinned_(standardPins()) {
  scroll_->hide();
  growing_.setSingleShot(true);
  connect(&growing_, &QTimer::timeout, this, &RunColumns::grow);
  connect(&lines_, &RunLines::rearranged, &growing_, qOverload<>(&QTimer::start));
  connect(scroll_, &QScrollBar::valueChanged, this, [this] {
    if (!fitting_) fit();
  });
  connect(header_, &QHeaderView::sectionMoved, this, [this] {
    if (fitting_) return;
    orderPinned();
    fit();
    Q_EMIT changed();
  });
  connect(header_, &QHeaderView::sectionResized, this, [this](int column, int, int width) {
    if (fitting_ || width == 0) return;
    of(column).given = width;
    fit();
    Q_EMIT changed();
  });
  renew();
}

void RunColumns::renew() {
  for (const int column : {RunsModel::Check, RunsModel::Star})
    header_->setSectionResizeMode(column, QHeaderView::Fixed);
  orderPinned();
  measure();
}

void RunColumns::measureColumn(int column) {
  const QAbstractItemModel* model = table_->model();
  const int rows = std::min(model->rowCount(), kMeasured);
  const QStyleOptionViewItem option;
  int needed = header_->neededWidth(column);
  bool empty = true;
  for (int row = 0; row < rows; ++row) {
    const QModelIndex index = model->index(row, column);
    const QString text = index.data().toString();
    empty = empty && (text.isEmpty() || text == format::kNone);
    needed = std::max(needed, table_->itemDelegate()->sizeHint(option, index).width());
  }
  of(column).empty = column == RunsModel::Curve ? of(RunsModel::Loss).empty : empty;
  of(column).needed = isSmall(column)
                          ? kSmall
                          : std::min(needed, column == RunsModel::Name ? kWidestName : kWidest);
}

void RunColumns::measure() {
  header_->ensurePolished();  // the sheet's font
  for (int column = 0; column < count(); ++column) measureColumn(column);
  fit();
}

/// Other rows are shown, by another filter or order: no column becomes narrower while one types.
void RunColumns::grow() {
  bool wider = false;
  for (int column = 0; column < count(); ++column) {
    const Column before = of(column);
    measureColumn(column);
    Column& now = of(column);
    wider |= now.needed > before.needed;
    now.needed = std::max(now.needed, before.needed);
    now.empty &= before.empty;
  }
  if (wider) fit();
}

QList<int> RunColumns::chosen() const {
  QList<int> columns;
  for (int visual = 0; visual < header_->count(); ++visual) {
    const int column = header_->logicalIndex(visual);
    if (isShown(column) && !isSmall(column) && column != RunsModel::Curve) columns << column;
  }
  return columns;
}

int RunColumns::widthOf(int column) const {
  const Column found = of(column);
  return found.given > 0 ? found.given : found.needed;
}

int RunColumns::nameNeeds() const {
  const Column name = of(RunsModel::Name);
  return name.given > 0 ? name.given : std::clamp(name.needed, kLowestName, kWideName);
}

bool RunColumns::isPinned(int column) const {
  return pinned_.contains(lines_.runs().keyOf(column));
}

/// Hides columns of the standard table until the rest fits; what is needed then.
int RunColumns::spareFor(std::vector<bool>& hidden, int needed, int room) {
  std::vector<bool> spared(hidden.size(), false);
  // The heads of groups show what is in their columns.
  for (const QString& key : lines_.groups()) {
    const int column = lines_.runs().columnOf(key);
    if (column < 0 || needed <= room || hidden[static_cast<size_t>(column)]) continue;
    hidden[static_cast<size_t>(column)] = true;
    needed -= widthOf(column);
  }
  // Columns that show nothing go first.
  std::vector<size_t> order(std::begin(kSpared), std::end(kSpared));
  std::ranges::stable_partition(
      order, [this](size_t column) { return of(static_cast<int>(column)).empty; });
  for (const size_t column : order) {
    if (needed <= room) break;
    if (hidden[column] || of(static_cast<int>(column)).shown == Shown::always) continue;
    hidden[column] = spared[column] = true;
    needed -= widthOf(static_cast<int>(column));
  }
  // A wide one that went last may have left room for one that went before it.
  for (const size_t column : order | std::views::reverse) {
    const Column& it = of(static_cast<int>(column));
    if (!spared[column] || it.empty || needed + widthOf(static_cast<int>(column)) > room) continue;
    hidden[column] = spared[column] = false;
    needed += widthOf(static_cast<int>(column));
  }
  if (std::exchange(spared_, spared) != spared) Q_EMIT sparedChanged();
  return needed;
}

/// The scroll bar's steps are columns: those before its value are hidden, but for pinned ones.
void RunColumns::scrollPast(std::vector<bool>& hidden, int needed, int room) {
  std::vector<int> moving;
  for (int visual = 0; visual < header_->count(); ++visual) {
    const int column = header_->logicalIndex(visual);
    if (!hidden[static_cast<size_t>(column)] && !isPinned(column)) moving.push_back(column);
  }
  int steps = 0;
  for (int left = needed; left > room && steps + 1 < static_cast<int>(moving.size()); ++steps)
    left -= widthOf(moving[static_cast<size_t>(steps)]);
  scroll_->setRange(0, steps);
  scroll_->setPageStep(std::max(1, static_cast<int>(moving.size()) - steps));
  scroll_->setVisible(steps > 0);
  for (int step = 0; step < scroll_->value(); ++step)
    hidden[static_cast<size_t>(moving[static_cast<size_t>(step)])] = true;
}

void RunColumns::fit() {
  const int room = table_->viewport()->width();
  std::vector<bool> hidden(static_cast<size_t>(count()), false);
  int needed = nameNeeds();
  for (int column = 0; column < count(); ++column) {
    hidden[static_cast<size_t>(column)] = !isShown(column);
    if (column != RunsModel::Name && isShown(column)) needed += widthOf(column);
  }
  fitting_ = true;
  needed = spareFor(hidden, needed, room);
  scrollPast(hidden, needed, room);
  const std::vector<int> before = widths();
  {
    // Each signal of the header would lay out and paint the table again.
    const QSignalBlocker quiet(header_);
    for (int column = 0; column < count(); ++column) {
      header_->setSectionHidden(column, hidden[static_cast<size_t>(column)]);
      if (column != RunsModel::Name && !hidden[static_cast<size_t>(column)])
        header_->resizeSection(column, widthOf(column));
    }
    widen(hidden, room);
  }
  if (widths() != before) {
    QMetaObject::invokeMethod(table_, "updateGeometries");
    table_->viewport()->update();
    header_->viewport()->update();
  }
  fitting_ = false;
}

std::vector<int> RunColumns::widths() const {
  std::vector<int> all;
  for (int column = 0; column < count(); ++column) all.push_back(header_->sectionSize(column));
  return all;
}

/// The rest goes to the name as far as it needs it, the curve, all columns, and the name.
void RunColumns::widen(const std::vector<bool>& hidden, int room) {
  const Column name = of(RunsModel::Name);
  int left = room;
  for (int column = 0; column < count(); ++column)
    if (column != RunsModel::Name && !hidden[static_cast<size_t>(column)]) left -= widthOf(column);
  const auto more = [&](int column, int most) {
    const int added = std::min(most, left - std::max(nameNeeds(), name.needed));
    if (added <= 0 || hidden[static_cast<size_t>(column)] || of(column).given > 0) return;
    header_->resizeSection(column, of(column).needed + added);
    left -= added;
  };
  more(RunsModel::Curve, kMoreCurve);
  for (int column = RunsModel::State; column < count(); ++column)
    if (column != RunsModel::Name && column != RunsModel::Curve) more(column, kMore);
  if (!hidden[RunsModel::Name])
    header_->resizeSection(RunsModel::Name,
                           name.given > 0 ? name.given : std::max(kLowestName, left));
}

/// Pinned columns are the first ones.
void RunColumns::orderPinned() {
  fitting_ = true;
  int visual = 0, pinned = 0;
  for (int at = 0; at < header_->count(); ++at) {
    if (!isPinned(header_->logicalIndex(at))) continue;
    header_->moveSection(at, visual++);
    ++pinned;
  }
  header_->setPinned(pinned);
  fitting_ = false;
}

QStringList RunColumns::spared() const {
  QStringList names;
  for (size_t column = 0; column < spared_.size(); ++column)
    if (spared_[column])
      names << table_->model()
                   ->headerData(static_cast<int>(column), Qt::Horizontal, Qt::DisplayRole)
                   .toString();
  return names;
}

void RunColumns::setShown(int column, bool shown) {
  of(column).shown = shown ? Shown::always : Shown::never;
  fit();
  Q_EMIT changed();
}

void RunColumns::setPinned(int column, bool pinned) {
  const QString key = lines_.runs().keyOf(column);
  pinned_.removeAll(key);
  if (pinned) pinned_.append(key);
  orderPinned();
  fit();
  Q_EMIT changed();
}

void RunColumns::reset() {
  columns_.clear();
  pinned_ = standardPins();
  fitting_ = true;
  for (int column = 0; column < header_->count(); ++column)
    header_->moveSection(header_->visualIndex(column), column);
  fitting_ = false;
  renew();
  Q_EMIT changed();
}

void RunColumns::apply(const RunView& view) {
  columns_.clear();
  for (auto width = view.widths.begin(); width != view.widths.end(); ++width)
    columns_[width.key()].given = *width;
  for (auto shown = view.shown.begin(); shown != view.shown.end(); ++shown)
    columns_[shown.key()].shown = *shown ? Shown::always : Shown::never;
  pinned_ = view.pinned.isEmpty() ? standardPins() : view.pinned;
  fitting_ = true;
  int visual = 0;
  for (const QString& key : view.order)
    if (const int column = lines_.runs().columnOf(key); column >= 0)
      header_->moveSection(header_->visualIndex(column), visual++);
  fitting_ = false;
  renew();
}

void RunColumns::describe(RunView& view) const {
  for (int visual = 0; visual < header_->count(); ++visual) {
    const int column = header_->logicalIndex(visual);
    const QString key = lines_.runs().keyOf(column);
    const Column found = of(column);
    view.order << key;
    if (found.given > 0) view.widths.insert(key, found.given);
    if (found.shown != Shown::whereThereIsRoom)
      view.shown.insert(key, found.shown == Shown::always);
  }
  view.pinned = pinned_;
}

}  // namespace heddle::gui
