#include "gui/widgets/text_table.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QTableView>

#include "gui/theme/theme.h"

namespace heddle::gui {

QString quotedCell(const QString& cell, QChar separator) {
  if (!cell.contains(separator) && !cell.contains(QLatin1Char('"')) &&
      !cell.contains(QLatin1Char('\n')))
    return cell;
  return QLatin1Char('"') + QString(cell).replace(QLatin1Char('"'), QLatin1String("\"\"")) +
         QLatin1Char('"');
}

QString textOf(const TextTable& table, QChar separator) {
  QString text;
  const auto add = [&](const QStringList& cells) {
    QStringList line;
    for (const QString& cell : cells) line << quotedCell(cell, separator);
    text += line.join(separator) + QLatin1Char('\n');
  };
  add(table.heads);
  for (const QStringList& row : table.rows) add(row);
  return text;
}

TextTableModel::TextTableModel(QStringList heads, size_t rows, CellText cell)
    : heads_(std::move(heads)), rows_(rows), cell_(std::move(cell)) {}

int TextTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_);
}

int TextTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(heads_.size());
}

QVariant TextTableModel::data(const QModelIndex& index, int role) const {
  if (role == Qt::TextAlignmentRole)
    return int((index.column() == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  return cell_(static_cast<size_t>(index.row()), static_cast<size_t>(index.column()));
}

QVariant TextTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return heads_.value(section);
}

TableDialog::TableDialog(const QString& title, QAbstractItemModel* model, const QString& note,
                         const QString& copied, QWidget* parent)
    : Dialog(title, {}, Tone::text, parent) {
  setAttribute(Qt::WA_DeleteOnClose);
  model->setParent(this);
  auto* table = new QTableView;
  table->setModel(model);
  table->setAccessibleName(tr("Values of %1").arg(title));
  table->setFont(font::mono(12));
  table->setWordWrap(false);
  table->setMinimumSize(560, 420);
  table->setTabKeyNavigation(false);
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(24);
  table->horizontalHeader()->setDefaultSectionSize(150);
  table->setCurrentIndex(model->index(0, 0));
  body()->addWidget(muted(note));
  body()->addWidget(table, 1);
  auto* copy = quietButton(tr("Copy"), QStringLiteral("copy"));
  connect(copy, &QPushButton::clicked, this,
          [copied] { QGuiApplication::clipboard()->setText(copied); });
  auto* close = primaryButton(tr("Close"));
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  addButton(copy);
  addButton(close);
  table->setFocus();
}

}  // namespace heddle::gui
