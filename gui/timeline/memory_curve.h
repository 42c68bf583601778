// A rank's memory over its step by category, under a timeline and on its axis. GUI thread only.
#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "engine/plan/document.h"
#include "gui/timeline/time_axis.h"
#include "gui/widgets/text_table.h"

namespace heddle::gui {

class MemoryCurve : public QWidget {
  Q_OBJECT

 public:
  explicit MemoryCurve(QWidget* parent = nullptr);

  /// `moments` by time; the last one holds until the step's end. `limit` in bytes, 0: none.
  /// null: nothing is known. `whose`, where the timeline above shows others too: "rank 64".
  void setMoments(std::shared_ptr<const std::vector<plan::MemoryMoment>> moments, int64_t limit,
                  const QString& whose = {});
  void setAxis(const TimeAxis& axis);
  /// One row per moment.
  TextTable table() const;
  /// The bytes at the widget's top.
  double top() const;

  QSize sizeHint() const override { return {800, 84}; }
  QSize minimumSizeHint() const override { return {320, 56}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  double yOf(double bytes) const;
  int64_t momentAt(double timeUs) const;
  void paintStack(QPainter& painter) const;
  void paintMarks(QPainter& painter) const;
  void paintScale(QPainter& painter) const;

  const std::vector<plan::MemoryMoment>& moments() const { return *moments_; }

  std::shared_ptr<const std::vector<plan::MemoryMoment>> moments_;
  int64_t limit_ = 0;
  QString title_;
  int64_t peak_ = -1;  // the moment of the most memory; −1: there is none
  TimeAxis axis_;
};

}  // namespace heddle::gui
