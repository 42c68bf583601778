// Texts in rows and columns, in a dialog and as text: what a picture shows, for those who do not
// see it or want to read off many of its values.
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

/// Rows of cells between separators, under a row of heads: CSV with a comma.
QString textOf(const TextTable& table, QChar separator);

/// A cell that has the separator, a quote or a line break is quoted.
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
  /// Takes the model. `note` is above it; `copied`: what Copy puts on the clipboard.
  TableDialog(const QString& title, QAbstractItemModel* model, const QString& note,
              const QString& copied, QWidget* parent);
};

}  // namespace heddle::gui
