// Timelines one above another on a common axis: a lane per stream, a row per rank (or per run). GUI
// thread only.
//
// Keys: W S zoom, A D pan, F fits the selection or all, `.` `,` next and previous span, up and down
// change the lane, Esc drops the selection. Ctrl+wheel zooms, Shift+wheel pans, dragging selects.
#pragma once

#include <QAbstractScrollArea>
#include <QPixmap>
#include <memory>
#include <optional>
#include <vector>

#include "gui/timeline/time_axis.h"
#include "gui/timeline/timeline_row.h"

namespace heddle::gui {

class TimelineWidget : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TimelineWidget(QWidget* parent = nullptr);

  /// Replaces what is shown. A zoomed view stays where it is as far as the new length allows.
  void setRows(std::vector<TimelineRow> rows);
  const std::vector<TimelineRow>& rows() const { return rows_; }
  /// Where phases (forward, backward, optimizer) are named. Default: above every row.
  void setPhaseBand(PhaseBand band);

  /// Spans whose operator or module contains the text stand out; empty: all do. Case is ignored.
  void setSearch(const QString& text);
  int64_t matches() const { return matches_; }

  /// The dragged stretch, in microseconds on the axis (rows may be shifted against it).
  std::optional<Interval> selection() const { return selection_; }
  void select(std::optional<Interval> range);
  /// A row's statistics over the selection, or over the whole step when there is none.
  Statistics statistics(size_t row) const;

  /// The span chosen by click or key.
  std::optional<SpanRef> current() const { return current_; }

  const TimeAxis& axis() const { return axis_; }
  void fit();
  void zoomTo(Interval range);

  QSize sizeHint() const override { return {800, 320}; }
  /// The height at which all rows show at full lane height.
  int preferredHeight() const;

 Q_SIGNALS:
  void selectionChanged();
  void viewChanged();
  void currentChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  enum class Drag { none, select, pan };

  void relayout();
  void refresh();  // the rows' picture is stale
  void zoom(double factor);
  void pan(double share);
  void step(int direction);
  void changeLane(int direction);
  void setCurrent(std::optional<SpanRef> span);
  void hover(QPoint position);
  void describe();
  std::optional<SpanRef> spanAt(QPoint position) const;
  double timeAt(int x) const;

  std::vector<TimelineRow> rows_;
  PhaseBand band_ = PhaseBand::everyRow;
  TimelineLayout layout_;
  TimeAxis axis_;
  QPixmap picture_;
  bool stale_ = true;

  QString search_;
  int64_t matches_ = 0;
  SearchHits hits_;

  std::optional<Interval> selection_;
  std::optional<SpanRef> current_;
  std::optional<SpanRef> hovered_;
  std::optional<QPoint> pointer_;
  LaneRef lane_;
  Drag drag_ = Drag::none;
  QPoint pressed_;
  double pressedTime_ = 0;
};

}  // namespace heddle::gui
