// A table of texts, in a dialog and as text: a picture's values, for people who cannot see it or
// want to read off many of them.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <functional>
#include <vector>

#include "gui/widgets/dialog.h"

namespace heddle::gui {

struct TextTable {
  QString title;
  QStringList heads;
  std::vector<QStringList> rows;  // as many cells as heads
};

/// Rows of separated cells under a row of heads: CSV with a comma.
QString textOf(const TextTable& table, QChar separator);

/// Quotes a cell that has the separator, a quote or a line break.
QString quotedCell(const QString& cell, QChar separator);

/// A cell's text, made when it is shown.
using CellText = std::function<QString(size_t row, size_t column)>;

class TextTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  TextTableModel(QStringList heads, size_t rows, CellText cell);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QStringList heads_;
  size_t rows_;
  CellText cell_;
};

class TableDialog : public Dialog {
  Q_OBJECT

 public:
  /// Owns the model. `note`: above the table; `copied`: the text for Copy.
  TableDialog(const QString& title, QAbstractItemModel* model, const QString& note,
              const QString& copied, QWidget* parent);
};

}  // namespace heddle::gui
