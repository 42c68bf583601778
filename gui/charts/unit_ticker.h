// Ticks at numbers that are round in the unit the axis shows (MiB, not bytes).
#pragma once

#include "gui/charts/unit.h"
#include "gui/theme/qcustomplot.h"

namespace heddle::gui {

class UnitTicker : public QCPAxisTicker {
 public:
  explicit UnitTicker(Unit unit) : unit_(unit) {}
  void setUnit(Unit unit) { unit_ = unit; }
  /// The unit's scale follows the largest value shown.
  void setRange(const QCPRange& range);
  const ScaledUnit& scaled() const { return scaled_; }
  /// Whole numbers only: steps.
  void setWhole(bool whole) { whole_ = whole; }

 protected:
  double getTickStep(const QCPRange& range) override;
  QString getTickLabel(double tick, const QLocale& locale, QChar formatChar,
                       int precision) override;

 private:
  Unit unit_;
  ScaledUnit scaled_;
  bool whole_ = false;
  double step_ = 1;
};

}  // namespace heddle::gui
