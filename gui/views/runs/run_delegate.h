// Paints a row of the runs table: state with its symbol, name with the run's stroke, sparkline,
// numbers in mono; the check box is the selection, but for a row that was only clicked.
#pragma once

#include <QHash>
#include <QStyledItemDelegate>

#include "gui/theme/run_colors.h"
#include "gui/views/runs/run_lines.h"

namespace heddle::gui {

class RunDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  /// The strokes' slots of runs chosen for a comparison.
  void setSlots(QHash<qint64, int> chosen) { slots_ = std::move(chosen); }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  /// Named as its column, for who cannot see where it is.
  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const override;
  /// As wide as the whole text.
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  void paintBackground(QPainter* painter, const QStyleOptionViewItem& option) const;
  void paintTriangle(QPainter* painter, const QRect& cell, const RunLine& line) const;
  void paintHead(QPainter* painter, const QStyleOptionViewItem& option,
                 const QModelIndex& index) const;
  void paintHeadBox(QPainter* painter, const QStyleOptionViewItem& option,
                    const QModelIndex& index) const;

  QHash<qint64, int> slots_;
};

}  // namespace heddle::gui
