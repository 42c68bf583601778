#include "gui/views/compare/run_table.h"

#include <QContextMenuEvent>
#include <QHeaderView>
#include <QPainter>
#include <QScopedValueRollback>
#include <algorithm>

#include "gui/theme/cell_font.h"
#include "gui/theme/theme.h"
#include "gui/views/compare/run_commands.h"
#include "gui/widgets/focus_line.h"

namespace heddle::gui {
namespace {

constexpr int kTableRow = 24, kHead = 28, kNameLeft = 16, kNameStroke = 18, kNameRight = 8;
constexpr int kMinColumn = 72, kMaxColumn = 200, kColumnRoom = 36;
constexpr int kMinRunName = 120, kMaxRunName = 260;
constexpr int kRowsMeasured = 60;  // columns are as wide as the first so many cells need

class NameHeader : public QHeaderView {
 public:
  NameHeader() : QHeaderView(Qt::Vertical) {
    setDefaultSectionSize(kTableRow);
    setSectionResizeMode(QHeaderView::Fixed);
    setSectionsClickable(true);
    setHighlightSections(false);
  }

 protected:
  void paintSection(QPainter* painter, const QRect& rect, int section) const override {
    const Colors& c = colors();
    const auto role = [&](int which) { return model()->headerData(section, Qt::Vertical, which); };
    const bool hidden = role(MutedRole).toBool();
    const bool selected =
        selectionModel() && selectionModel()->isRowSelected(section, QModelIndex());
    painter->save();
    painter->fillRect(rect, selected ? c.selected : c.surface);
    paintRowLine(*painter, rect);
    const QRect stroke(rect.left() + kNameLeft, rect.top(), kNameStroke, rect.height());
    // A hidden run keeps an empty place: its curve is nowhere.
    if (hidden) {
      painter->setPen(c.muted);
      painter->drawRect(QRect(stroke.left() + 4, stroke.center().y() - 4, 9, 9));
    } else {
      paintRunStroke(*painter, stroke,
                     {role(RunTableModel::ColorRole).value<QColor>(),
                      role(RunTableModel::MarkerRole).toInt()});
    }
    QRect room = rect.adjusted(kNameLeft + kNameStroke + 6, 0, -kNameRight, 0);
    QStringList marks;
    if (role(RunTableModel::BaselineRole).toBool()) marks << RunTable::tr("baseline");
    if (role(RunTableModel::TimelineRole).toBool()) marks << QStringLiteral("▤");
    if (!marks.isEmpty()) {
      const QString note = marks.join(QChar(' '));
      painter->setFont(font::caption());
      painter->setPen(c.muted);
      painter->drawText(room, Qt::AlignVCenter | Qt::AlignRight, note);
      room.adjust(0, 0, -painter->fontMetrics().horizontalAdvance(note) - 6, 0);
    }
    painter->setFont(font::mono(12, selected ? QFont::DemiBold : QFont::Normal));
    painter->setPen(hidden ? c.muted : c.text);
    painter->drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                      painter->fontMetrics().elidedText(role(Qt::DisplayRole).toString(),
                                                        Qt::ElideMiddle, room.width()));
    painter->restore();
  }
};

}  // namespace

RunTable::RunTable(RunTableModel& model, CompareChoices& choices, QWidget* parent)
    : QTableView(parent), model_(model), choices_(choices) {
  setObjectName(QStringLiteral("runTable"));
  setAccessibleName(tr("Compared runs"));
  new FocusLine(this);
  setVerticalHeader(new NameHeader);
  setModel(&model);
  setItemDelegate(new ValueDelegate(this));
  setFrameShape(QFrame::NoFrame);
  setShowGrid(false);
  setWordWrap(false);
  setCornerButtonEnabled(false);
  setTabKeyNavigation(false);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  verticalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
  horizontalHeader()->setFixedHeight(kHead);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setSectionsClickable(true);
  connect(horizontalHeader(), &QHeaderView::sectionClicked, this, &RunTable::sortBy);
  connect(verticalHeader(), &QWidget::customContextMenuRequested, this, [this](QPoint at) {
    const int row = verticalHeader()->logicalIndexAt(at);
    if (row >= 0 && !selectionModel()->isRowSelected(row, {})) selectRow(row);
    openMenu(verticalHeader()->viewport()->mapToGlobal(at));
  });
  connect(&model, &QAbstractItemModel::modelReset, this, [this] {
    fitColumns();
    showSorting();
    takeHighlight();
  });
  connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    verticalHeader()->viewport()->update();
    giveHighlight();
  });
  connect(&choices, &CompareChoices::highlightChanged, this, &RunTable::takeHighlight);
}

void RunTable::fitColumns() {
  static const CellFont heads(font::text(), false), cells(font::mono(12, QFont::DemiBold));
  const int rows = std::min(model_.rowCount(), kRowsMeasured);
  for (int column = 0; column < model_.columnCount(); ++column) {
    int widest =
        heads.widthOf(model_.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString()) + 8;
    for (int row = 0; row < rows; ++row)
      widest = std::max(widest, cells.widthOf(model_.index(row, column).data().toString()));
    setColumnWidth(column, std::clamp(widest + kColumnRoom, kMinColumn, kMaxColumn));
  }
  int widest = kMinRunName;
  for (int row = 0; row < rows; ++row)
    widest = std::max(
        widest, cells.widthOf(model_.headerData(row, Qt::Vertical, Qt::DisplayRole).toString()));
  constexpr int kAround = kNameLeft + kNameStroke + 6 + kNameRight + 64;  // 64: marks
  verticalHeader()->setFixedWidth(std::min(widest + kAround, kMaxRunName));
}

/// Up, down, and back to the order in which the runs were chosen.
void RunTable::sortBy(int column) {
  const bool same = model_.sortColumn() == column;
  const bool down = same && model_.sortOrder() == Qt::DescendingOrder;
  model_.sort(down ? -1 : column, same ? Qt::DescendingOrder : Qt::AscendingOrder);
  showSorting();
}

void RunTable::showSorting() {
  horizontalHeader()->setSortIndicatorShown(model_.sortColumn() >= 0);
  horizontalHeader()->setSortIndicator(model_.sortColumn(), model_.sortOrder());
}

QList<qint64> RunTable::selectedRuns() const {
  QList<qint64> runs;
  for (int row = 0; row < model_.rowCount(); ++row)
    if (selectionModel()->isRowSelected(row, {})) runs.append(model_.runAt(row));
  return runs;
}

void RunTable::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_S && event->modifiers() == Qt::NoModifier && currentIndex().isValid())
    return sortBy(currentIndex().column());
  if (event->key() == Qt::Key_Escape && !selectedRuns().isEmpty()) return clearSelection();
  if (!pressRunKey(choices_, selectedRuns(), *event)) QTableView::keyPressEvent(event);
}

void RunTable::contextMenuEvent(QContextMenuEvent* event) {
  const QModelIndex at = indexAt(event->pos());
  if (at.isValid() && !selectionModel()->isRowSelected(at.row(), {})) selectRow(at.row());
  openMenu(event->globalPos());
}

void RunTable::openMenu(const QPoint& globalPosition) {
  const QList<qint64> runs = selectedRuns();
  if (runs.isEmpty()) return;
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fillRunMenu(*menu, choices_, runs);
  menu->popup(globalPosition);
}

void RunTable::takeHighlight() {
  if (taking_) return;
  const QScopedValueRollback<bool> taking(taking_, true);
  QItemSelection chosen;
  for (const qint64 run : choices_.highlighted())
    if (const int row = model_.rowOf(run); row >= 0 && model_.columnCount() > 0)
      chosen.select(model_.index(row, 0), model_.index(row, model_.columnCount() - 1));
  selectionModel()->select(chosen, QItemSelectionModel::ClearAndSelect);
  verticalHeader()->viewport()->update();
}

void RunTable::giveHighlight() {
  if (taking_) return;
  const QScopedValueRollback<bool> taking(taking_, true);
  const QList<qint64> runs = selectedRuns();
  choices_.setHighlighted(QSet<qint64>(runs.begin(), runs.end()));
}

}  // namespace heddle::gui
