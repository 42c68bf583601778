// The help (F1): a few sentences about the page, and all keys, found by typing.
#pragma once

#include <QListView>
#include <QStandardItemModel>

#include "gui/widgets/dialog.h"
#include "gui/widgets/key_table.h"
#include "gui/widgets/search_field.h"

namespace heddle::gui {

class HelpDialog : public Dialog {
  Q_OBJECT

 public:
  HelpDialog(const QString& page, const QString& help, QList<KeyTable> tables, QWidget* parent);

 private:
  void fill();

  QList<KeyTable> tables_;
  SearchField* field_;
  QListView* list_;
  QLabel* none_;  // in place of the list where nothing fits
  QStandardItemModel model_;
};

}  // namespace heddle::gui
