// The chart of one metric of several runs, which it reads by itself: what is on screen, at the
// resolution that it has there. GUI thread only.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "gui/charts/chart_spec.h"
#include "gui/charts/line_chart.h"
#include "gui/models/worker.h"
#include "gui/theme/run_colors.h"

namespace heddle::gui {

class Session;

/// A run on a board of charts.
struct BoardRun {
  qint64 id = 0;
  QString name;
  RunStroke stroke;
  QString group = {};  // runs of one group can be drawn as their mean and range; empty: none
  bool hidden = false;
  bool highlighted = false;
  qint64 lastStep = 0;  // the last one that is drawn; 0: all are
  bool operator==(const BoardRun&) const = default;
};

class MetricChart : public LineChart {
  Q_OBJECT

 public:
  MetricChart(Session& session, ChartSpec spec, QWidget* parent = nullptr);

  const ChartSpec& spec() const { return spec_; }
  void setSpec(ChartSpec spec);

  void setRuns(std::vector<BoardRun> runs);
  /// The store's versions of them: curves whose version has grown are read again.
  void setSources(std::vector<CurveRun> sources);
  void setBaseline(qint64 run);  // 0: none
  bool hasBaseline() const { return baseline_ != 0; }
  bool hasGroups() const;
  Session& session() const { return session_; }
  std::vector<qint64> runs() const;
  /// All ranks that some run has, sorted.
  std::vector<int32_t> ranks() const;

  /// Nothing that is on screen is still being read.
  bool isReady() const;

 Q_SIGNALS:
  void specChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  CurveQuery query() const;
  void describe();
  void readAgain();
  void read();
  void turn();
  void take(std::vector<CurveData> curves);
  void putCurves();
  /// A run's curve as it was read, or what it is drawn as.
  struct Shown {
    QString name;
    const BoardRun* run = nullptr;
    Series raw, smooth;
    Range extent;
  };
  std::vector<Shown> shownCurves() const;
  void subtractBaseline(std::vector<Shown>& curves, QStringList& detail);
  QString ranksText() const;
  QString jumpsText() const;
  void add(const Shown& curve);
  void addGroup(const QString& group, const std::vector<const Shown*>& members);

  Session& session_;
  ChartSpec spec_;
  std::vector<BoardRun> runs_;
  qint64 baseline_ = 0;
  std::vector<CurveRun> sources_;
  Job job_;
  std::shared_ptr<CurveReading> reading_;
  std::map<std::pair<storage::RunId, int32_t>, CurveData> curves_;
  std::map<storage::RunId, CurveRun> known_;  // as they were read last
  CurveQuery asked_;                          // for it
  bool stale_ = false;
  QString apart_;  // why no difference is drawn
};

}  // namespace heddle::gui
