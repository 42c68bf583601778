// The tags of one run or many, edited in place: a list of all tags with boxes, half ticked where
// some of the runs have one, and a field that finds one or makes a new one.
#pragma once

#include <QFrame>
#include <QListWidget>

#include "storage/run.h"

namespace heddle::gui {

class SearchField;

class TagEditor : public QFrame {
  Q_OBJECT

 public:
  explicit TagEditor(QWidget* parent = nullptr);

  /// `all`: tags that any run of the store has.
  void open(const QPoint& globalPosition, const std::vector<storage::RunSummary>& runs,
            const QStringList& all);

 Q_SIGNALS:
  /// The tags that the runs get and lose. Their other tags stay.
  void changed(const QList<qint64>& runs, const std::vector<std::string>& add,
               const std::vector<std::string>& remove);

 protected:
  void hideEvent(QHideEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void filter(const QString& typed);
  void toggle(QListWidgetItem* item);
  void takeTyped();
  /// `before`: the state in the store.
  QListWidgetItem* add(const QString& tag, Qt::CheckState before);

  SearchField* field_;
  QListWidget* list_;
  QList<qint64> runs_;
};

}  // namespace heddle::gui
