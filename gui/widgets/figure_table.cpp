#include "gui/widgets/figure_table.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>

#include "gui/widgets/focus_line.h"

namespace heddle::gui {
namespace {

constexpr int kFigureRow = 24, kMinFigure = 48;

/// A cell's text, without what would begin another cell.
QString cellOf(const QVariant& value) {
  return value.toString().replace(QChar('\t'), QChar(' ')).replace(QChar('\n'), QChar(' '));
}

}  // namespace

FigureTable::FigureTable(const QString& id, const QString& name, QAbstractItemModel& model) {
  setObjectName(id);
  setAccessibleName(name);
  setModel(&model);
  new FocusLine(this);
  setFrameShape(QFrame::NoFrame);
  setShowGrid(false);
  setWordWrap(false);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setTabKeyNavigation(false);
  setTextElideMode(Qt::ElideMiddle);
  setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(kFigureRow);
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  horizontalHeader()->setSectionsClickable(false);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(kMinFigure);
  horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
}

KeyTable FigureTable::keys() {
  return {tr("In a table of figures"),
          {{{Qt::Key_Up, Qt::Key_Down}, tr("Another row"), tr("click")},
           {{Qt::Key_S}, tr("Sort by the current column"), tr("click on its head")},
           {{QKeySequence::Copy}, tr("Copy the table, tab-separated")}}};
}

void FigureTable::setFigureWidth(int width) { horizontalHeader()->setDefaultSectionSize(width); }

void FigureTable::stretch(const QList<int>& columns) {
  for (const int column : columns)
    horizontalHeader()->setSectionResizeMode(column, QHeaderView::Stretch);
}

void FigureTable::sortAlso(int column, Qt::SortOrder order) {
  horizontalHeader()->setSectionsClickable(true);
  horizontalHeader()->setSortIndicator(column, order);
  setSortingEnabled(true);
}

/// Largest first; again: the other way round.
void FigureTable::sortByCurrent() {
  const int column = currentIndex().column();
  const bool again = horizontalHeader()->sortIndicatorSection() == column &&
                     horizontalHeader()->sortIndicatorOrder() == Qt::DescendingOrder;
  sortByColumn(column, again ? Qt::AscendingOrder : Qt::DescendingOrder);
}

QString FigureTable::text() const {
  QString text;
  const bool named = !verticalHeader()->isHidden();
  const auto line = [&](const QVariant& name, auto cell) {
    QStringList cells;
    if (named) cells << cellOf(name);
    for (int column = 0; column < model()->columnCount(); ++column) cells << cellOf(cell(column));
    text += cells.join(QChar('\t')) + QChar('\n');
  };
  line({}, [this](int column) { return model()->headerData(column, Qt::Horizontal); });
  for (int row = 0; row < model()->rowCount(); ++row)
    line(model()->headerData(row, Qt::Vertical),
         [this, row](int column) { return model()->index(row, column).data(); });
  return text;
}

void FigureTable::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy))
    QGuiApplication::clipboard()->setText(text());
  else if (event->key() == Qt::Key_S && event->modifiers() == Qt::NoModifier &&
           isSortingEnabled() && currentIndex().isValid())
    sortByCurrent();
  else
    QTableView::keyPressEvent(event);
}

}  // namespace heddle::gui
