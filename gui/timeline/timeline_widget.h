// Timelines one above another on a common axis: a lane per stream, a row per rank (or per run). GUI
// thread only.
//
// Keys: W S zoom, A D pan, F fits the selection or all, Backspace and Shift+Backspace go back and
// forward through the views, `.` `,` next and previous span, N and Shift+N next and previous hit of
// the search, up and down change the lane, P pins the row, C collapses it (Shift+C: all), H hides
// it (Shift+H: all are shown), M shows the counters, K the critical path, Esc drops the selection.
// Ctrl+wheel zooms (the wheel alone where rows need no scrolling), Shift+wheel pans, dragging
// selects, dragging with the middle button pans.
#pragma once

#include <QAbstractScrollArea>
#include <QElapsedTimer>
#include <QPixmap>
#include <functional>
#include <optional>
#include <vector>

#include "gui/timeline/lane_choice.h"
#include "gui/timeline/time_axis.h"
#include "gui/timeline/timeline_layout.h"
#include "gui/timeline/timeline_row.h"
#include "gui/timeline/zoom_history.h"
#include "gui/widgets/key_table.h"

namespace heddle::gui {

struct TimelineScene;

class TimelineWidget : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TimelineWidget(QWidget* parent = nullptr);
  static KeyTable keys();

  /// Replaces the rows. A zoomed view stays where it is as far as the new length allows; the
  /// selection stays, the current span does not.
  void setRows(std::vector<TimelineRow> rows);
  const std::vector<TimelineRow>& rows() const { return rows_; }
  /// Which rows name their phases. Default: every row.
  void setPhaseBand(PhaseBand band);
  /// Which rows and lanes are shown, and how.
  const LaneChoice& lanes() const { return lanes_; }
  void setLanes(const LaneChoice& lanes);
  void togglePinned(size_t row);
  void toggleCollapsed(size_t row);
  /// Collapses every row, or expands all if they are.
  void toggleAllCollapsed();
  void hide(size_t row);
  /// Also the rows that were hidden or filtered away.
  void showAllRows();
  void toggleCounters();
  /// The row that keys are about.
  size_t currentRow() const { return lane_.row; }

  /// Whether the row is neither hidden nor filtered away.
  bool showsRow(size_t row) const { return !lanes_.shapeOf(rows_[row]).hidden; }
  std::vector<TimelineRow> shownRows() const;

  /// Highlights the critical path; empty: none.
  void setPath(std::vector<PathMark> path);
  const std::vector<PathMark>& path() const { return path_; }

  /// Paints the screen again without pointer and selection: for a picture of any kind.
  void paintPicture(QPainter& painter);

  /// In the middle while there are no rows.
  void setEmptyText(const QString& text);

  /// Highlights spans whose operator or module contains the text; empty: all. Case is ignored.
  void setSearch(const QString& text);
  /// The same by any test, instead of a text; an empty one: none.
  void setHighlight(SpanTest test, Tested tested = Tested::everySpan);
  const Found& found() const { return found_; }
  /// Spans found.
  int64_t matches() const { return found_.count(); }
  /// The number of the current span among the found ones, from 1; 0: it is none of them.
  int64_t match() const;
  /// Chooses the next hit in that direction and brings it into view; round and round.
  void goToMatch(int direction);
  /// Zooms to the hits, with a little around them; shows all if that is most of it.
  void showFound();

  /// The dragged stretch, in microseconds on the axis (rows may be shifted against it).
  std::optional<Interval> selection() const { return selection_; }
  void select(std::optional<Interval> range);
  /// The selection's end follows the pointer.
  bool isDragging() const { return drag_ == Drag::select; }
  /// A row's statistics over the selection, or over its whole step when there is none.
  Statistics statistics(size_t row) const;

  /// The span chosen by click or key.
  std::optional<SpanRef> current() const { return current_; }

  const TimeAxis& axis() const { return axis_; }
  const TimelineLayout& layoutOfRows() const { return layout_; }
  void fit();
  void zoomTo(const Interval& range);
  /// Shows the view before, or the one that was gone back from.
  void goBack();
  void goForward();

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {320, 96}; }

 Q_SIGNALS:
  void rowsChanged();
  void selectionChanged();
  /// The axis shows another stretch, or on other pixels.
  void viewChanged();
  void currentChanged();
  /// Keys and tables are about another row.
  void currentRowChanged();
  void lanesChanged();
  /// K: the critical path, or it no longer.
  void criticalPathWanted();
  /// A menu is wanted for `row`, if it is over one.
  void menuWanted(const QPoint& globalPosition, std::optional<size_t> row);
  /// Another search, or its result in other rows.
  void foundChanged();
  /// The user wants to type what to search for: /.
  void searchWanted();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  enum class Drag { none, select, pan };

  void relayout();
  void find();
  void invalidate();
  void changeView();
  /// The view is about to change: changes that follow one another at once count as one.
  void rememberView();
  void showView(const std::optional<ZoomHistory::View>& view);
  /// Zooms or pans by hand.
  void moveView(const std::function<void(TimeAxis&)>& move);
  bool key(const QKeyEvent& event);
  bool laneKey(int key, bool shift);
  void stepSpan(int direction);
  void stepLane(int direction);
  void setCurrent(std::optional<SpanRef> span);
  void bringIntoView(const SpanRef& span);
  void describe();
  TimelineScene scene() const;
  void setCurrentRow(size_t row);
  std::optional<size_t> rowAt(QPoint position) const;
  /// Shown lanes from top to bottom.
  std::vector<LaneRef> shownLanes() const;
  std::optional<LaneRef> laneAt(QPoint position) const;
  std::optional<SpanRef> spanAt(QPoint position) const;
  /// The time there; where the lane's next begin or end of a span is some pixels away, that.
  double edgeAt(QPoint position) const;
  double pointerX() const;

  std::vector<TimelineRow> rows_;
  PhaseBand band_ = PhaseBand::everyRow;
  LaneChoice lanes_;
  std::vector<PathMark> path_;
  std::map<QString, double> counterTops_;
  QString emptyText_;
  TimelineLayout layout_;
  TimeAxis axis_;
  QPixmap picture_;  // rows and axis; moving parts are painted over it
  bool stale_ = true;

  ZoomHistory history_;
  QElapsedTimer sinceMove_;

  SpanTest test_;  // none: nothing is searched for
  Tested tested_ = Tested::everySpan;
  Found found_;

  std::optional<Interval> selection_;
  std::optional<SpanRef> current_;
  std::optional<SpanRef> hovered_;
  std::optional<QPoint> pointer_;
  LaneRef lane_;
  Drag drag_ = Drag::none;
  QPoint pressed_;
  double pressedUs_ = 0;
};

}  // namespace heddle::gui
