// The ranks of a run: compute by rank, and what else the newest step says.
#pragma once

#include <QGridLayout>
#include <QScrollArea>

#include "gui/views/live/rank_bars.h"
#include "gui/widgets/card.h"

namespace heddle::gui {

class RankCard : public Card {
  Q_OBJECT

 public:
  explicit RankCard(QWidget* parent = nullptr);
  void clear();
  /// `what` names the bars, as in "compute in step 410".
  void setBars(const QString& what, std::vector<int32_t> ranks, std::vector<double> seconds);
  /// The most important first: the first two are always shown, the others as far as there is room.
  void setFacts(const QVector<QPair<QString, QString>>& facts);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void showWhatFits();

  QScrollArea* scroll_;
  RankBars* bars_;
  QGridLayout* facts_;
};

}  // namespace heddle::gui
