// How a person arranges the runs table: columns, sorts, groups, and views that keep all that by
// name. Its buttons are at the right of the filter, its menu on the header.
#pragma once

#include <QObject>
#include <QPushButton>
#include <QTimer>

#include "gui/session.h"
#include "gui/views/runs/column_panel.h"
#include "gui/views/runs/filter_bar.h"
#include "gui/views/runs/run_columns.h"

class QMenu;

namespace heddle::gui {

class RunArrangement : public QObject {
  Q_OBJECT

 public:
  /// The table has its model, header and delegate.
  RunArrangement(Session& session, RunsModel& model, RunLines& lines, QTableView* table,
                 RunHeader* header, QScrollBar* scroll, FilterBar* filter);

  RunColumns& columns() { return *columns_; }
  /// The store has changed: values of added columns too.
  void refresh();
  /// Takes on the arrangement of the last time, and keeps it from now on.
  void keep();
  bool isReady() const { return !reading_.running() && panel_->isReady(); }
  /// Keeps at once what would be kept in a moment.
  void saveNow();
  /// The columns, sorts and groups of the first day.
  void reset();
  /// Opens the menu of a column under its header.
  void offerAt(int column);
  /// Opens the panel that chooses columns.
  void chooseColumns();

 private:
  void makeButtons(FilterBar* filter);
  void showSpared();
  void setColumn(const QString& key, bool shown);
  void resetColumns();
  void readAdded(const QStringList& keys);
  void fillGroupMenu(QMenu* menu);
  void fillInnerMenu(QMenu* menu);
  /// The keys by which runs can be grouped, in column order.
  QStringList groupKeys() const;
  void fillViewMenu(QMenu* menu);
  void offer(int section, const QPoint& globalPosition);
  void setGroups(const QStringList& keys);
  /// Shows the column of sweeps where it is not, and groups by it.
  void groupBySweep();
  void apply(const RunView& view);
  RunView current() const;
  void saveAs();
  void save();
  QString labelOf(const QString& key) const;

  Session& session_;
  RunsModel& model_;
  RunLines& lines_;
  QTableView* table_;
  RunHeader* header_;
  FilterBar* filter_;
  RunColumns* columns_;
  ColumnPanel* panel_;
  QPushButton* group_;
  QPushButton* chooser_;
  QPushButton* views_;
  Job reading_;
  std::optional<RunView> wanted_;  // to be put in use once its columns are there
  QString wantedGroup_;            // the same for a column to group by; empty: none
  bool keeping_ = false;
  QTimer saving_;
};

}  // namespace heddle::gui
