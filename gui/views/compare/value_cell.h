// A run's value of one key as a table's cell: the value or its difference from the baseline, tinted
// by whether that is better, with an arrow that says the same without colour.
#pragma once

#include <QPainter>
#include <QStyleOptionViewItem>
#include <QVariant>

#include "gui/views/compare/compared_keys.h"

namespace heddle::gui {

/// BestRole: the value is the best. HeatRole: -1 (much worse than the baseline) to 1 (much better).
enum ValueCellRole { BestRole = Qt::UserRole, HeatRole, kRolesOfPages };

/// A model's answer. `difference`: results show their difference, the baseline its value.
QVariant valueCell(const ComparedKey& key, size_t run, bool difference, int role);

/// Paints text, tint, arrow and the check of the best value. `muted`: of a run that is hidden.
void paintValueCell(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index,
                    bool muted);

}  // namespace heddle::gui
