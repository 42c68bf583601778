// The numbers that matter of a run, in a row: loss, throughput, memory, exposed communication,
// time.
#pragma once

#include <QVector>
#include <QWidget>
#include <optional>
#include <vector>

#include "gui/models/run_pace.h"
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
  /// Begins after these steps.
  void begin(const StepsBefore& before);
  void show(const storage::RunDetail& run, const StepPoints& steps, const RunPace& pace,
            const std::optional<Exposed>& exposed);
  /// Stale: the run is out of contact; its figures are grey.
  void setStale(bool stale);

 private:
  void showLoss(const StepPoints& steps);
  void showThroughput(const storage::RunDetail& run);
  void showMemory(const storage::RunDetail& run);
  void showExposed(const storage::RunDetail& run, const std::optional<Exposed>& exposed);
  void showTime(const storage::RunDetail& run, const RunPace& pace);
  void showUtilization(const storage::RunDetail& run, const StepPoints& steps);

  Tile* loss_;
  Tile* throughput_;
  Tile* utilization_;
  Tile* memory_;
  Tile* exposed_;
  Tile* time_;
  QVector<double> losses_, rates_, bytes_, shares_, seconds_;
  StepPoint newest_;
  int64_t profiled_ = 0;  // steps
};

}  // namespace heddle::gui
