// One of many, found by typing: a field over a list, in a popup of its own.
#pragma once

#include <QFrame>
#include <QIcon>
#include <QListView>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <vector>

namespace heddle::gui {

class SearchField;

class PickList : public QFrame {
  Q_OBJECT

 public:
  struct Item {
    qint64 id = 0;
    QIcon icon;
    QString text;
  };

  /// The empty field shows `hint`.
  explicit PickList(const QString& hint, QWidget* parent = nullptr);

  /// In the order given. `current` is chosen.
  void setItems(const std::vector<Item>& items, qint64 current);
  /// Opens under `at`, or over it where there is no room.
  void open(QWidget* at);
  /// The items that match the typed text.
  QStringList shown() const;

 Q_SIGNALS:
  void picked(qint64 id);

 private:
  void accept(const QModelIndex& index);

  SearchField* field_;
  QListView* list_;
  QStandardItemModel items_;
  QSortFilterProxyModel matching_;
};

}  // namespace heddle::gui
