// Layouts by memory and throughput: the front that a search has found, today's recipe, the limit.
#pragma once

#include <QWidget>
#include <vector>

#include "engine/plan/search_result.h"

namespace heddle::gui {

class FrontChart : public QWidget {
  Q_OBJECT

 public:
  explicit FrontChart(QWidget* parent = nullptr);

  /// In the middle while nothing is known.
  void setEmptyText(const QString& text);
  /// The result so far.
  void setResult(const plan::SearchResult& result);
  /// Index into the front; −1: none.
  int hovered() const { return hovered_; }
  QPointF pointOf(int index) const;
  QSize sizeHint() const override { return {520, 280}; }
  QSize minimumSizeHint() const override { return {360, 160}; }

 Q_SIGNALS:
  void hoveredChanged(int index);
  void chosen(int index);

 protected:
  void paintEvent(QPaintEvent*) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent*) override;

 private:
  struct Range {
    double low = 0, high = 1;
  };
  QRectF field() const;
  QPointF placed(const plan::Found& found) const;
  void findRanges();
  void hover(int index);
  int indexAt(const QPointF& place) const;
  void paintAxes(QPainter& painter) const;
  void paintFront(QPainter& painter) const;

  QString emptyText_;
  std::vector<plan::Found> front_;
  std::optional<plan::Found> given_;
  qint64 limit_ = 0;
  Range memory_, rate_;
  int hovered_ = -1;
};

}  // namespace heddle::gui
