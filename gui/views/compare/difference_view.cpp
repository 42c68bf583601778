#include "gui/views/compare/difference_view.h"

#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>

#include "gui/format.h"
#include "gui/theme/icons.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kRow = 24, kLowestKey = 120, kLowestValue = 92, kDifference = 86;

/// The run's stroke before its name in the header.
void paintStroke(QPainter* painter, int x, int y, const QColor& color, const QVector<qreal>& dash) {
  QPen pen(color, 2, Qt::SolidLine, Qt::FlatCap);
  if (!dash.isEmpty()) pen.setDashPattern({2, 1});
  painter->setPen(pen);
  painter->drawLine(x, y, x + 16, y);
}

class RunHeader : public QHeaderView {
 public:
  RunHeader() : QHeaderView(Qt::Horizontal) {
    setFixedHeight(28);
    setSectionsClickable(false);
    setHighlightSections(false);
  }

 protected:
  void paintSection(QPainter* painter, const QRect& rect, int section) const override {
    const Colors& c = colors();
    painter->save();
    painter->fillRect(rect, c.surface);
    const QVariant color = model()->headerData(section, orientation(), DifferenceModel::ColorRole);
    const QString text = model()->headerData(section, orientation(), Qt::DisplayRole).toString();
    QRect room = rect.adjusted(4, 0, -8, 0);
    painter->setFont(color.isValid() ? font::mono(12, QFont::Medium) : font::text(12));
    const int stroke = color.isValid() ? 22 : 0;
    const QString shown =
        painter->fontMetrics().elidedText(text, Qt::ElideMiddle, room.width() - stroke);
    painter->setPen(color.isValid() ? c.text : c.muted);
    painter->drawText(room, Qt::AlignVCenter | Qt::AlignRight, shown);
    if (color.isValid())
      paintStroke(painter,
                  room.right() - painter->fontMetrics().horizontalAdvance(shown) - stroke + 1,
                  room.center().y() + 1, color.value<QColor>(),
                  model()
                      ->headerData(section, orientation(), DifferenceModel::DashRole)
                      .value<QVector<qreal>>());
    painter->restore();
  }
};

class DifferenceDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Colors& c = colors();
    painter->save();
    QRect cell = option.rect.adjusted(index.column() == 0 ? 16 : 4, 0, -8, 0);
    if (index.data(DifferenceModel::GroupRole).toBool()) {
      painter->fillRect(option.rect, c.raised);
      painter->setPen(c.text);
      painter->setFont(font::text(13, QFont::DemiBold));
      painter->drawText(cell, Qt::AlignVCenter | Qt::AlignLeft, index.data().toString());
      if (index.column() == index.model()->columnCount() - 1) {
        painter->setFont(font::mono());
        painter->setPen(c.muted);
        painter->drawText(cell, Qt::AlignVCenter | Qt::AlignRight,
                          index.data(DifferenceModel::CountRole).toString());
      }
      painter->restore();
      return;
    }
    painter->fillRect(option.rect, option.state & QStyle::State_MouseOver ? c.selected : c.surface);
    painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1),
                      blend(c.surface, c.line, 0.5));
    const bool best = index.data(DifferenceModel::BestRole).toBool();
    const bool difference =
        index.model()
            ->headerData(index.column(), Qt::Horizontal, DifferenceModel::ColorRole)
            .isNull();
    painter->setFont(index.column() == 0 ? font::text()
                                         : font::mono(12, best ? QFont::DemiBold : QFont::Normal));
    painter->setPen(best ? c.goodText : index.column() > 0 && difference ? c.muted : c.text);
    const auto alignment = static_cast<Qt::Alignment>(index.data(Qt::TextAlignmentRole).toInt());
    const QString text =
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideMiddle, cell.width());
    painter->drawText(cell, static_cast<int>(alignment), text);
    if (best) {
      const int left = cell.right() - painter->fontMetrics().horizontalAdvance(text) - 18;
      if (left >= option.rect.left())
        icon(QStringLiteral("check"), Tone::good)
            .paint(painter, QRect(left, cell.center().y() - 6, 14, 14));
    }
    painter->restore();
  }
};

}  // namespace

DifferenceView::DifferenceView(DifferenceModel& model, QWidget* parent) : QTableView(parent) {
  setObjectName(QStringLiteral("differences"));
  setAccessibleName(tr("Differences"));
  setHorizontalHeader(new RunHeader);
  setModel(&model);
  setItemDelegate(new DifferenceDelegate(this));
  setShowGrid(false);
  setMouseTracking(true);
  setSelectionMode(QAbstractItemView::NoSelection);
  setTabKeyNavigation(false);
  setWordWrap(false);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(kRow);
  setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  connect(&model, &QAbstractItemModel::modelReset, this, &DifferenceView::fitColumns);
}

void DifferenceView::fitColumns() {
  const int count = model()->columnCount();
  if (count == 0) return;
  // A column for the difference is there when the last one has no run.
  const bool difference =
      model()->headerData(count - 1, Qt::Horizontal, DifferenceModel::ColorRole).isNull();
  const int runs = count - 1 - difference;
  const int room = viewport()->width() - difference * kDifference;
  const int value = std::max(kLowestValue, (room - std::max(kLowestKey, room * 3 / 8)) / runs);
  for (int column = 1; column <= runs; ++column) setColumnWidth(column, value);
  if (difference) setColumnWidth(count - 1, kDifference);
  setColumnWidth(0, std::max(kLowestKey, room - value * runs));
}

void DifferenceView::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fitColumns();
}

}  // namespace heddle::gui
