// The columns of the runs table: as wide as what is in them, in the order and width that a person
// gave them. Where there is no room for all, those of the standard table go first that the drawer
// shows anyway; where the rest is still too wide, the table scrolls column by column, past those
// that are pinned.
#pragma once

#include <QHash>
#include <QObject>
#include <QScrollBar>
#include <QTableView>
#include <QTimer>
#include <vector>

#include "gui/views/runs/run_header.h"
#include "gui/views/runs/run_view.h"

namespace heddle::gui {

class RunColumns : public QObject {
  Q_OBJECT

 public:
  /// The table has its model and its delegate. `scroll` is under it.
  RunColumns(QTableView* table, RunHeader* header, RunLines& lines, QScrollBar* scroll);

  /// Rows have changed: a column may need another width.
  void measure();
  /// There is more or less room.
  void fit();
  /// The names of the columns that are hidden for lack of room.
  QStringList spared() const;
  /// Those that a person sees where there is room for all, in their order, without pictures.
  QList<int> chosen() const;
  bool isShown(int column) const { return of(column).shown != Shown::never; }
  void setShown(int column, bool shown);
  bool isPinned(int column) const;
  void setPinned(int column, bool pinned);
  void reset();
  /// Columns were added or have gone.
  void renew();

  /// Puts the layout's part of a view in use; or writes it there.
  void apply(const RunView& view);
  void describe(RunView& view) const;

 Q_SIGNALS:
  void sparedChanged();
  /// A person has changed the layout.
  void changed();

 private:
  enum class Shown { whereThereIsRoom, always, never };
  struct Column {
    int needed = 0;  // by header and contents
    int given = 0;   // by the person; 0: none
    bool empty = false;
    Shown shown = Shown::whereThereIsRoom;
  };

  Column& of(int column) { return columns_[lines_.runs().keyOf(column)]; }
  Column of(int column) const { return columns_.value(lines_.runs().keyOf(column)); }
  int count() const { return lines_.runs().columnCount(); }
  int widthOf(int column) const;
  std::vector<int> widths() const;  // in use; 0: hidden
  int nameNeeds() const;
  void measureColumn(int column);
  void grow();
  int spareFor(std::vector<bool>& hidden, int needed, int room);
  void scrollPast(std::vector<bool>& hidden, int needed, int room);
  void widen(const std::vector<bool>& hidden, int room);
  void orderPinned();

  QTableView* table_;
  RunHeader* header_;
  RunLines& lines_;
  QScrollBar* scroll_;
  QHash<QString, Column> columns_;
  QStringList pinned_;
  std::vector<bool> spared_;
  bool fitting_ = false;
  QTimer growing_;  // once the lines are in place
};

}  // namespace heddle::gui
