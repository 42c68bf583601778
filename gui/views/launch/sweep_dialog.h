// Chooses a sweep: keys and values, grid or random, how many at once, whether the worst are
// stopped; says before anything is launched how many runs that makes and how long they will take.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QSpinBox>
#include <QTimer>

#include "gui/views/launch/sweep_rows.h"
#include "gui/views/launch/sweep_time.h"
#include "gui/widgets/dialog.h"
#include "gui/widgets/segment.h"

namespace heddle::gui {

class SweepDialog : public Dialog {
  Q_OBJECT

 public:
  /// `engine` plans; `choice`: what was chosen before.
  SweepDialog(SweptRecipe recipe, const QString& engine, const SweepChoice& choice,
              QWidget* parent);

  SweepChoice choice() const;
  /// Nothing more is being computed.
  bool isReady() const { return !pause_.isActive() && !time_.isAsking(); }

 Q_SIGNALS:
  /// It was accepted.
  void chosen(const heddle::gui::SweepChoice& choice, qsizetype runs);

 private:
  QLayout* makeHow(const SweepChoice& choice);
  QLayout* makeHalving(const SweepChoice& choice);
  void edited();
  void look();
  void showTime();

  const SweptRecipe recipe_;
  SweepRows* rows_;
  Segment* how_;
  QSpinBox *picks_, *seed_, *atOnce_;
  QWidget* random_;
  QCheckBox* halves_;
  QComboBox* metric_;
  QSpinBox* keep_;
  QWidget* halving_;
  QLabel *rungs_, *summary_, *names_, *error_;
  QPushButton* use_;
  SweepTime time_;
  QTimer pause_;  // values are typed: not every letter is looked at
  std::vector<workbench::SweepRun> runs_;
};

}  // namespace heddle::gui
