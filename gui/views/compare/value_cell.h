// A run's value of one key as a table's cell: the value or its difference from the baseline, tinted
// by whether that is better, with an arrow that says the same without colour.
#pragma once

#include <QPainter>
#include <QStyledItemDelegate>
#include <QVariant>

#include "gui/views/compare/compared_keys.h"

namespace heddle::gui {

/// BestRole: the value is the best. HeatRole: -1 (much worse than the baseline) to 1 (much better).
/// MutedRole: it is of a run that is hidden.
enum ValueCellRole { BestRole = Qt::UserRole, HeatRole, MutedRole, kRolesOfPages };

/// A model's answer. `difference`: results show their difference, the baseline its value.
QVariant valueCell(const ComparedKey& key, size_t run, size_t baseline, bool difference, int role);

/// Paints text, tint, arrow and the check of the best value.
void paintValueCell(QPainter& painter, const QStyleOptionViewItem& option,
                    const QModelIndex& index);

/// The least width that shows the text and a mark in full.
int valueCellWidth(const QString& text);

/// The line under a row of a table.
void paintRowLine(QPainter& painter, const QRect& row);

/// Paints such cells on the ground of a row, selected or not.
class ValueDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
};

}  // namespace heddle::gui
