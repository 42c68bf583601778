// The numbers that matter of a run, in a row: loss, throughput, memory, exposed communication,
// time.
#pragma once

#include <QVector>
#include <QWidget>
#include <optional>
#include <vector>

#include "gui/views/live/step_points.h"
#include "gui/widgets/tile.h"
#include "storage/run.h"

namespace heddle::gui {

class LiveTiles : public QWidget {
  Q_OBJECT

 public:
  explicit LiveTiles(QWidget* parent = nullptr);
  void clear();
  void append(const std::vector<StepPoint>& points);
  /// `totalSteps` 0: not known.
  void show(const storage::RunDetail& run, const StepPoints& steps, int64_t totalSteps);

 private:
  void showLoss(const StepPoints& steps);
  void showThroughput(size_t ranks);
  void showMemory(const storage::RunDetail& run);
  void showExposed();
  void showTime(const storage::RunDetail& run, const StepPoints& steps, int64_t totalSteps);
  void showUtilization(const storage::RunDetail& run, const StepPoints& steps);

  Tile* loss_;
  Tile* throughput_;
  Tile* utilization_;
  Tile* memory_;
  Tile* exposed_;
  Tile* time_;
  QVector<double> losses_, rates_, bytes_, shares_, seconds_;
  StepPoint newest_;
  double exposedSeconds_ = 0;
};

}  // namespace heddle::gui
