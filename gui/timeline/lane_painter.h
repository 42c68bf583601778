// Paints the marks of one lane, batched by colour.
#pragma once

#include <QBrush>
#include <QColor>
#include <QPainter>
#include <QRect>
#include <array>
#include <vector>

#include "gui/timeline/time_axis.h"
#include "gui/timeline/timeline_row.h"

namespace heddle::gui {

/// Colours of a scheme, prepared once per picture.
class LanePainter {
 public:
  LanePainter(QPainter& painter, const TimeAxis& axis);

  /// `hits` may be empty (no search).
  void paint(const Lane& lane, const QRect& rect, int64_t shiftUs,
             const std::vector<uint32_t>& hits);

 private:
  static constexpr int kLevels = 5;  // from faint to full: thin folds, and what a search leaves out
  static constexpr int kShades = 2;  // neighbouring layers differ

  struct Label {
    QRect rect;
    uint32_t piece;
    QColor color;
  };

  void collect(const Lane& lane, const Mark& mark, const QRect& rect, int64_t shiftUs, bool found);
  void paintLabels(const Lane& lane);

  QPainter& painter_;
  const TimeAxis& axis_;
  std::array<std::array<std::array<QColor, kLevels>, kShades>, kKinds> colors_;
  std::array<std::array<std::array<std::vector<QRect>, kLevels>, kShades>, kKinds> batches_;
  std::vector<QRect> hatched_;
  QBrush hatch_;
  std::vector<Label> labels_;
};

/// A paler exposed communication: nothing is sent yet.
QColor waitingColor();
/// Diagonal stripes of hidden communication.
QBrush hatchBrush(qreal pixelRatio);

}  // namespace heddle::gui
