// Seconds of compute by rank: who is slower than the others.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "gui/views/live/step_points.h"
#include "gui/widgets/text_table.h"

namespace heddle::gui {

class RankBars : public QWidget {
  Q_OBJECT

 public:
  explicit RankBars(QWidget* parent = nullptr);
  /// `stages`: as of findStraggler.
  void setValues(std::vector<int32_t> ranks, std::vector<double> seconds,
                 const std::vector<int>& stages);
  /// The run is out of contact: the bars are grey, and no rank is called slow.
  void setStale(bool stale);
  TextTable table() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {140, 24}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  std::vector<int32_t> ranks_;
  std::vector<double> seconds_;
  std::optional<Straggler> straggler_;
  bool stale_ = false;
};

}  // namespace heddle::gui
