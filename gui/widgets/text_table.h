// A table of texts, in a dialog and as text: a picture's values, for people who cannot see it or
// want to read off many of them.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
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

class TextTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit TextTableModel(TextTable table, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  TextTable table_;
};

class TableDialog : public Dialog {
  Q_OBJECT

 public:
  /// Owns the model. `note`: above the table; `copied`: the text for Copy.
  TableDialog(const QString& title, QAbstractItemModel* model, const QString& note,
              const QString& copied, QWidget* parent);
};

}  // namespace heddle::gui
