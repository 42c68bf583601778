// A field over a list: the field keeps the keyboard, arrows and page keys move in the list, Enter
// takes its current row.
#pragma once

#include <QLineEdit>
#include <QListView>
#include <functional>

namespace heddle::gui {

class ListKeys : public QObject {
 public:
  /// Lives as long as the field.
  ListKeys(QLineEdit* field, QListView* list, std::function<void(const QModelIndex&)> take);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QListView* list_;
  std::function<void(const QModelIndex&)> take_;
};

}  // namespace heddle::gui
