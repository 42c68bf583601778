// The common part of the plots of relations: the runs, what is said of them, the runs under the
// pointer. GUI thread only.
#pragma once

#include <QSet>
#include <QWidget>
#include <vector>

#include "gui/theme/run_colors.h"
#include "gui/views/compare/value_axis.h"
#include "gui/widgets/key_table.h"

namespace heddle::gui {

/// A run in the plots of relations.
struct PlottedRun {
  qint64 id = 0;
  QString name;
  RunStroke stroke;
  bool hidden = false;
  bool highlighted = false;
};

class RelationPlot : public QWidget {
  Q_OBJECT

 public:
  QSize minimumSizeHint() const override { return {240, 220}; }

 Q_SIGNALS:
  /// The runs that were chosen by a brush; empty: none are.
  void brushed(const QSet<qint64>& runs);

 protected:
  RelationPlot(const QString& id, const QString& name, QWidget* parent);

  void setRuns(std::vector<PlottedRun> runs);
  const std::vector<PlottedRun>& runs() const { return runs_; }
  /// The faint ones first, so that bright ones are drawn over them: `paint(run, bright)`.
  template <typename Paint>
  void paintRuns(Paint paint) const {
    for (const bool bright : {false, true})
      for (size_t run = 0; run < runs_.size(); ++run)
        if (!runs_[run].hidden && isBright(run) == bright) paint(run, bright);
  }
  /// "loss (log)".
  static QString titleOf(const ValueAxis& axis);
  /// Whether the run is drawn near that place.
  virtual bool isAt(size_t run, const QPointF& place) const = 0;

  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override;

 private:
  bool isBright(size_t run) const { return !anyHighlighted_ || runs_[run].highlighted; }

  std::vector<PlottedRun> runs_;
  bool anyHighlighted_ = false;
};

}  // namespace heddle::gui
