// Ticks at numbers that are round in the unit the axis shows (MiB, not bytes), at round times of
// day, and on a logarithmic axis at 1, 2 and 5 of each decade.
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
  void setLog(bool log) { log_ = log; }
  /// Values are Unix seconds.
  void setClock(bool clock) { clock_ = clock; }
  /// About as wide as a label gets, up to that value.
  QString widestLabel(double value);

 protected:
  double getTickStep(const QCPRange& range) override;
  QVector<double> createTickVector(double step, const QCPRange& range) override;
  QString getTickLabel(double tick, const QLocale& locale, QChar formatChar,
                       int precision) override;

 private:
  bool showsDecades(const QCPRange& range) const;

  Unit unit_;
  ScaledUnit scaled_;
  QCPRange range_;
  bool whole_ = false;
  bool log_ = false;
  bool clock_ = false;
  double step_ = 1;
};

}  // namespace heddle::gui
