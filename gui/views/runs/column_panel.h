// Chooses the columns of the runs table: a field over a list of all that there can be, of the run,
// its recipe, results, environment and metrics, each with a check box.
#pragma once

#include <QFrame>
#include <QListView>
#include <QSortFilterProxyModel>
#include <QSpinBox>
#include <QStandardItemModel>

#include "gui/session.h"
#include "workbench/run_values.h"

namespace heddle::gui {

class SearchField;

class ColumnPanel : public QFrame {
  Q_OBJECT

 public:
  explicit ColumnPanel(Session& session, QWidget* parent = nullptr);

  /// `builtIn`: the table's own columns as (key, label); `shown`: keys of the columns in use.
  void open(QWidget* at, const QList<std::pair<QString, QString>>& builtIn,
            const QSet<QString>& shown);
  bool isReady() const { return !reading_.running(); }

 Q_SIGNALS:
  void columnChosen(const QString& key, bool shown);
  void resetWanted();

 private:
  void add(const QString& key, const QString& part, const QString& label);
  void addMetric(const std::string& metric);
  void fill();
  void toggle(const QModelIndex& index);

  Session& session_;
  Job reading_;
  SearchField* field_;
  QListView* list_;
  QSpinBox* tail_;  // of how many last samples a mean is
  workbench::RunKeys keys_;
  QStandardItemModel items_;
  QSortFilterProxyModel matching_;
  QList<std::pair<QString, QString>> builtIn_;
  QSet<QString> shown_;
};

}  // namespace heddle::gui
