#include "gui/views/compare/difference_view.h"

#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/widgets/focus_line.h"

namespace heddle::gui {
namespace {

constexpr int kRow = 24, kLowestKey = 120, kUsualKey = 160, kLowestValue = 104, kHighestValue = 132,
              kDifference = 92;
constexpr int kLeft = 16, kRight = 8, kStroke = 18;
constexpr int kCountGap = 8;  // between the name of a group and its count

/// The runs' names with their strokes.
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
    const auto role = [&](int which) {
      return model()->headerData(section, Qt::Horizontal, which);
    };
    const QVariant color = role(DifferenceModel::ColorRole);
    const QRect room = rect.adjusted(4, 0, -kRight, 0);
    painter->setFont(color.isValid() ? font::mono(12, QFont::Medium) : font::text(12));
    const int stroke = color.isValid() ? kStroke + 6 : 0;
    const QString shown = painter->fontMetrics().elidedText(role(Qt::DisplayRole).toString(),
                                                            Qt::ElideMiddle, room.width() - stroke);
    if (role(DifferenceModel::BaselineRole).toBool())
      painter->fillRect(QRect(rect.left() + 1, rect.bottom() - 1, rect.width() - 2, 2), c.accent);
    painter->setPen(color.isValid() ? c.text : c.muted);
    painter->drawText(room, Qt::AlignVCenter | Qt::AlignRight, shown);
    const int left = room.right() - painter->fontMetrics().horizontalAdvance(shown) - stroke + 1;
    if (color.isValid())
      paintRunStroke(*painter, QRectF(left, room.top(), kStroke, room.height()),
                     {color.value<QColor>(), role(DifferenceModel::MarkerRole).toInt()});
    painter->restore();
  }
};

/// The keys: they stay while the runs scroll sideways.
class KeyHeader : public QHeaderView {
 public:
  KeyHeader() : QHeaderView(Qt::Vertical) {
    setDefaultSectionSize(kRow);
    setSectionResizeMode(QHeaderView::Fixed);
    setSectionsClickable(false);
    setHighlightSections(false);
  }

  /// So wide that every key is seen in full, and a group's name with its count.
  int fullWidth() const {
    int widest = 0;
    const QFontMetrics keys(font::text()), groups(font::text(13, QFont::DemiBold)),
        counts(font::mono());
    for (int row = 0; row < count(); ++row) {
      const QString text = model()->headerData(row, Qt::Vertical).toString();
      const QString found =
          model()->headerData(row, Qt::Vertical, DifferenceModel::CountRole).toString();
      const bool group =
          model()->headerData(row, Qt::Vertical, DifferenceModel::GroupRole).toBool();
      widest = std::max(widest, group ? groups.horizontalAdvance(text) + kCountGap +
                                            counts.horizontalAdvance(found)
                                      : keys.horizontalAdvance(text));
    }
    return kLeft + widest + kRight + 4;
  }

 protected:
  void paintSection(QPainter* painter, const QRect& rect, int section) const override {
    const Colors& c = colors();
    const bool group =
        model()->headerData(section, Qt::Vertical, DifferenceModel::GroupRole).toBool();
    painter->save();
    painter->fillRect(rect, group ? c.raised : c.surface);
    if (!group) paintRowLine(*painter, rect);
    const QRect cell = rect.adjusted(kLeft, 0, -kRight, 0);
    painter->setFont(group ? font::text(13, QFont::DemiBold) : font::text());
    painter->setPen(c.text);
    const QString text = painter->fontMetrics().elidedText(
        model()->headerData(section, Qt::Vertical).toString(), Qt::ElideMiddle, cell.width());
    painter->drawText(cell, Qt::AlignVCenter | Qt::AlignLeft, text);
    if (group) {
      const QRect rest =
          cell.adjusted(painter->fontMetrics().horizontalAdvance(text) + kCountGap, 0, 0, 0);
      painter->setFont(font::mono());
      painter->setPen(c.muted);
      const QString count =
          model()->headerData(section, Qt::Vertical, DifferenceModel::CountRole).toString();
      // "1 of 1" of 14 would be another number.
      if (painter->fontMetrics().horizontalAdvance(count) <= rest.width())
        painter->drawText(rest, Qt::AlignVCenter | Qt::AlignLeft, count);
    }
    painter->restore();
  }
};

class DifferenceDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Colors& c = colors();
    if (index.data(DifferenceModel::GroupRole).toBool())
      return painter->fillRect(option.rect, c.raised);
    painter->save();
    painter->fillRect(option.rect, option.state & QStyle::State_MouseOver ? c.selected : c.surface);
    paintRowLine(*painter, option.rect);
    paintValueCell(*painter, option, index);
    painter->restore();
  }
};

}  // namespace

DifferenceView::DifferenceView(DifferenceModel& model, QWidget* parent) : QTableView(parent) {
  setObjectName(QStringLiteral("differences"));
  setAccessibleName(tr("Differences"));
  new FocusLine(this);
  setHorizontalHeader(new RunHeader);
  setVerticalHeader(new KeyHeader);
  setModel(&model);
  setItemDelegate(new DifferenceDelegate(this));
  setShowGrid(false);
  setMouseTracking(true);
  setSelectionMode(QAbstractItemView::NoSelection);
  setTabKeyNavigation(false);
  setWordWrap(false);
  setCornerButtonEnabled(false);
  setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  connect(&model, &QAbstractItemModel::modelReset, this, [this, &model] {
    empty_ = model.emptyText();
    measureValues();
    setAccessibleDescription(empty_);
    fitColumns();
  });
  measureValues();
}

/// A column for the difference is there when the last one has no run.
int DifferenceView::runColumns() const {
  const int count = model()->columnCount();
  const bool difference =
      count > 0 &&
      model()->headerData(count - 1, Qt::Horizontal, DifferenceModel::ColorRole).isNull();
  return count - difference;
}

/// Figures are never cut where a column can be a little wider; long words may be.
void DifferenceView::measureValues() {
  value_ = kLowestValue;
  for (int row = 0; row < model()->rowCount(); ++row)
    for (int column = 0; column < runColumns(); ++column)
      value_ = std::max(value_, valueCellWidth(model()->index(row, column).data().toString()));
  value_ = std::min(value_, kHighestValue);
}

int DifferenceView::leastWidth() const {
  const int runs = runColumns(), count = model()->columnCount();
  if (runs == 0) return 0;
  const int keys = std::clamp(static_cast<const KeyHeader*>(verticalHeader())->fullWidth(),
                              kLowestKey, kUsualKey);
  return keys + runs * value_ + (count - runs) * kDifference + 2 * frameWidth() +
         verticalScrollBar()->sizeHint().width();
}

void DifferenceView::fitColumns() {
  const int count = model()->columnCount(), runs = runColumns();
  if (count == 0) return;
  const bool difference = count > runs;
  const int whole = width() - 2 * frameWidth() - verticalScrollBar()->sizeHint().width();
  auto* keys = static_cast<KeyHeader*>(verticalHeader());
  // Keys give way before a column is out of sight.
  const int beside = whole - difference * kDifference;
  const int most = std::max(kLowestKey, std::min(whole * 2 / 5, beside - runs * value_));
  const int key = std::clamp(keys->fullWidth(), kLowestKey, most);
  keys->setFixedWidth(key);
  const int value = std::max(value_, (beside - key) / runs);
  for (int column = 0; column < runs; ++column) setColumnWidth(column, value);
  if (difference) setColumnWidth(count - 1, kDifference);
}

void DifferenceView::paintEvent(QPaintEvent* event) {
  QTableView::paintEvent(event);
  if (empty_.isEmpty()) return;
  QPainter painter(viewport());
  painter.setFont(font::text());
  painter.setPen(colors().muted);
  painter.drawText(viewport()->rect().adjusted(kLeft, kLeft, -kLeft, -kLeft),
                   Qt::AlignCenter | Qt::TextWordWrap, empty_);
}

void DifferenceView::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fitColumns();
}

}  // namespace heddle::gui
