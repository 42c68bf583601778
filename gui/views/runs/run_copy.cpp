#include "gui/views/runs/run_copy.h"

#include <QStringList>

namespace heddle::gui {
namespace {

/// A cell's text, without what would begin another cell.
QString cellText(QString text, RunText form) {
  text.replace(QChar('\t'), QChar(' ')).replace(QChar('\n'), QChar(' '));
  if (form == RunText::markdown) text.replace(QChar('|'), QStringLiteral("\\|"));
  return text;
}

QString rowText(QStringList cells, RunText form) {
  for (QString& cell : cells) cell = cellText(cell, form);
  if (form == RunText::tabs) return cells.join(QChar('\t')) + QChar('\n');
  return QStringLiteral("| ") + cells.join(QStringLiteral(" | ")) + QStringLiteral(" |\n");
}

}  // namespace

QString textOfRuns(const RunsModel& model, const QHeaderView& header, const QList<qint64>& runs,
                   RunText form) {
  QList<int> columns;
  for (int visual = 0; visual < header.count(); ++visual) {
    const int column = header.logicalIndex(visual);
    const bool drawn =
        column == RunsModel::Check || column == RunsModel::Star || column == RunsModel::Curve;
    if (!drawn && !header.isSectionHidden(column)) columns.append(column);
  }
  QStringList labels, rules;
  for (const int column : columns) {
    labels << model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    rules << (model.isNumber(column) ? QStringLiteral("---:") : QStringLiteral("---"));
  }
  QString text = rowText(labels, form);
  if (form == RunText::markdown) text += rowText(rules, form);
  for (const qint64 run : runs) {
    const int row = model.indexOf(run);
    if (row < 0) continue;
    QStringList cells;
    for (const int column : columns) cells << model.index(row, column).data().toString();
    text += rowText(cells, form);
  }
  return text;
}

}  // namespace heddle::gui
