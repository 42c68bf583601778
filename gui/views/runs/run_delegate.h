// Paints a row of the runs table: state with its symbol, name with the run's stroke, sparkline,
// numbers in mono; the check box is the selection, but for a row that was only clicked.
#pragma once

#include <QHash>
#include <QStyledItemDelegate>
#include <optional>

#include "gui/theme/run_colors.h"
#include "gui/views/runs/run_lines.h"

namespace heddle::gui {

class RunDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  /// The stroke slots of the runs chosen for a comparison, and of the runs with their own colour.
  void setSlots(QHash<qint64, int> chosen, QHash<qint64, int> own) {
    slots_ = std::move(chosen);
    own_ = std::move(own);
  }
  /// None: the run's row has no stroke.
  std::optional<int> slotOf(qint64 run) const;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  /// Named after its column, for screen readers.
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

  QHash<qint64, int> slots_, own_;
};

}  // namespace heddle::gui
