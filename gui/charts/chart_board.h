// A grid of charts of some runs' metrics, which a page fills with runs and a person with charts.
// The board reads samples by itself: what is on screen, at the resolution that it has there. GUI
// thread only.
#pragma once

#include <QWidget>
#include <map>
#include <vector>

#include "gui/charts/chart_group.h"
#include "gui/charts/metric_chart.h"

namespace heddle::gui {

class ChartBoard : public QWidget {
  Q_OBJECT

 public:
  explicit ChartBoard(Session& session, QWidget* parent = nullptr);

  /// The charts as long as a person has not changed them, and after a reset.
  void setDefaults(std::vector<ChartSpec> charts);
  /// Remembers charts and named views under that name in the settings, "live". Without it nothing
  /// is remembered.
  void setViews(const QString& key);

  void setRuns(std::vector<BoardRun> runs);
  /// The run that the others are compared with; 0: none.
  void setBaseline(qint64 run);
  /// The store may have more: what is on screen is read again where it has.
  void refresh();

  /// Lines to compare a metric's curves with, and a place where something happened, wherever the
  /// metric is shown, now and later.
  void setReferences(const std::string& metric, std::vector<ReferenceLine> lines);
  void setMark(const std::string& metric, std::optional<ChartMark> mark);

  /// Nothing that is on screen is still being read.
  bool isReady() const;
  const std::vector<MetricChart*>& charts() const { return charts_; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void setCharts(const std::vector<ChartSpec>& charts);
  void addChart(const ChartSpec& spec);
  void arrange();
  void readRuns();

  Session& session_;
  Job job_;
  ChartGroup group_;
  std::vector<MetricChart*> charts_;
  std::vector<BoardRun> runs_;
  qint64 baseline_ = 0;
  std::map<qint64, CurveRun> sources_;
  std::map<std::string, std::vector<ReferenceLine>> references_;
  std::map<std::string, ChartMark> marks_;
  QString key_;
  bool again_ = false;
};

}  // namespace heddle::gui
