#include "gui/views/runs/run_copy.h"

#include <fmt/format.h>

#include <QDateTime>
#include <QStringList>
#include <cmath>

#include "gui/format.h"
#include "gui/widgets/text_table.h"
#include "storage/value_text.h"

namespace heddle::gui {
namespace {

/// A cell's text, without what would begin another cell.
QString cellText(QString text, RunText form) {
  text.replace(QChar('\t'), QChar(' ')).replace(QChar('\n'), QChar(' '));
  if (form == RunText::markdown) text.replace(QChar('|'), QStringLiteral("\\|"));
  return text;
}

QString rowText(QStringList cells, RunText form) {
  if (form == RunText::csv) {
    for (QString& cell : cells) cell = quotedCell(cell, QLatin1Char(','));
    return cells.join(QLatin1Char(',')) + QLatin1Char('\n');
  }
  for (QString& cell : cells) cell = cellText(cell, form);
  if (form == RunText::tabs) return cells.join(QChar('\t')) + QChar('\n');
  return QStringLiteral("| ") + cells.join(QStringLiteral(" | ")) + QStringLiteral(" |\n");
}

/// A value as another program reads it; empty: there is none.
QString valueForPrograms(const RunsModel& model, int row, int column) {
  const QString key = model.keyOf(column);
  const auto value = model.value(row, key.toStdString());
  if (!value) return {};
  const auto* number = std::get_if<double>(&*value);
  if (!number) return QString::fromStdString(storage::value_text(key.toStdString(), *value));
  if (key == QStringLiteral("created"))
    return QDateTime::fromMSecsSinceEpoch(std::llround(*number * 1e3))
        .toUTC()
        .toString(Qt::ISODateWithMs);
  return QString::fromStdString(fmt::format("{}", *number));
}

}  // namespace

QString textOfRuns(const RunsModel& model, const QList<int>& columns, const QList<qint64>& runs,
                   RunText form) {
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
    for (const int column : columns)
      cells << (form == RunText::csv ? valueForPrograms(model, row, column)
                                     : model.index(row, column).data().toString());
    text += rowText(cells, form);
  }
  return text;
}

}  // namespace heddle::gui
