// The ranks of a run: compute by rank, and other facts of the newest step.
#pragma once

#include <QGridLayout>
#include <QMap>

#include "gui/views/live/rank_bars.h"
#include "gui/widgets/card.h"

namespace heddle::gui {

class RankCard : public Card {
  Q_OBJECT

 public:
  explicit RankCard(QWidget* parent = nullptr);
  void clear();
  /// `what` names the bars, as in "compute in step 410".
  void setBars(const QString& what, std::vector<int32_t> ranks, std::vector<double> seconds,
               const std::vector<int>& stages = {});
  /// The run is out of contact: bars and facts are grey.
  void setStale(bool stale);
  void setFacts(const QVector<QPair<QString, QString>>& facts);

 protected:
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fit();  // where not all is seen, at least no half row

  QWidget* inside_;
  RankBars* bars_;
  QGridLayout* facts_;
};

}  // namespace heddle::gui
