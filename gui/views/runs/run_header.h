// The header of the runs table: a click sorts, with Shift by one more column, and small numbers
// show the order of several; the first section has a box that ticks all runs shown.
#pragma once

#include <QHeaderView>

#include "gui/views/runs/run_lines.h"

namespace heddle::gui {

class RunHeader : public QHeaderView {
  Q_OBJECT

 public:
  RunHeader(RunLines& lines, QWidget* parent = nullptr);

  /// The width that a section's contents need, hidden or not.
  int neededWidth(int section) const;
  /// How many of the runs shown are ticked.
  void setTicks(Qt::CheckState ticks);
  Qt::CheckState ticks() const { return ticks_; }
  /// Columns up to this visual place stay where they are when the table scrolls.
  void setPinned(int count);
  /// Sorts by the column, the other way round where it did already; `adds`: after what it sorts by.
  void sortBy(int section, bool adds);
  /// The column that the keyboard is in; -1: it is elsewhere.
  void setCurrent(int section);

 Q_SIGNALS:
  void allTicked(bool ticked);

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void paintSection(QPainter* painter, const QRect& rect, int section) const override;
  QSize sectionSizeFromContents(int section) const override;

 private:
  void showSorts();
  void paintSort(QPainter* painter, const QRect& rect, int place) const;
  int placeOf(int section) const;

  RunLines& lines_;
  Qt::CheckState ticks_ = Qt::Unchecked;
  bool adds_ = false;  // Shift is held
  int pinned_ = 0;
  int current_ = -1;
};

}  // namespace heddle::gui
