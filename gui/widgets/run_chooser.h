// Runs of the store in a list that can be searched: those that are shown are ticked. A popup; it
// stays while one after the other is ticked.
#pragma once

#include <QAbstractListModel>
#include <QFrame>
#include <QLabel>
#include <QListView>
#include <QSet>
#include <vector>

#include "gui/widgets/search_field.h"
#include "storage/run.h"

namespace heddle::gui {

class RunChoices : public QAbstractListModel {
  Q_OBJECT

 public:
  using QAbstractListModel::QAbstractListModel;
  void setRuns(std::vector<storage::RunSummary> runs, QSet<qint64> ticked);
  /// Shows the runs that have every one of these words in name, recipe, target or state.
  void setTyped(const QString& typed);
  const storage::RunSummary& run(int row) const { return runs_[shown_[static_cast<size_t>(row)]]; }
  int all() const { return static_cast<int>(runs_.size()); }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 Q_SIGNALS:
  void ticked(qint64 run, bool on);

 private:
  std::vector<storage::RunSummary> runs_;
  std::vector<size_t> shown_;
  QSet<qint64> ticked_;
};

class RunChooser : public QFrame {
  Q_OBJECT

 public:
  explicit RunChooser(QWidget* parent);
  void setRuns(std::vector<storage::RunSummary> runs, QSet<qint64> ticked);
  /// Opens under `at`.
  void open(const QWidget* at);

 Q_SIGNALS:
  void ticked(qint64 run, bool on);

 private:
  void toggle(const QModelIndex& index);
  void count();

  RunChoices model_;
  SearchField* field_;
  QListView* list_;
  QLabel* count_;
};

}  // namespace heddle::gui
