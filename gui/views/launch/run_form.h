// A run's name, its ranks and how it is executed; whether it is one or a sweep, and
// whether it waits.
#pragma once

#include <QCheckBox>
#include <QLineEdit>
#include <QSpinBox>
#include <QWidget>
#include <optional>

#include "gui/views/launch/sweep_choice.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/segment.h"

namespace heddle::gui {

class RunForm : public QWidget {
  Q_OBJECT

 public:
  explicit RunForm(QWidget* parent = nullptr);

  /// Another recipe: its name and ranks, and no sweep.
  void begin(const QString& name, int ranks);
  /// A fork is one run, and begins at once.
  void setFork(bool fork);
  void setTarget(const QString& target);
  void setSweep(std::optional<SweepChoice> sweep, qsizetype runs);

  QString name() const { return name_->text().trimmed(); }
  int ranks() const { return ranks_->value(); }
  std::string mode() const { return mode_->current() == 0 ? "planned" : "eager"; }
  const std::optional<SweepChoice>& sweep() const { return sweep_; }
  qsizetype runs() const { return runs_; }
  /// Whether it goes through the queue: a sweep always does.
  bool isQueued() const { return sweep_ || waits_->isChecked(); }

 Q_SIGNALS:
  void ranksChanged();
  void sweepRequested();
  /// Any other choice.
  void changed();

 private:
  void showSweep();

  QLineEdit* name_;
  QSpinBox* ranks_;
  Segment* mode_;
  QPushButton* choose_;
  QToolButton* drop_;
  ElidedLabel* words_;
  QCheckBox* waits_;
  std::optional<SweepChoice> sweep_;
  qsizetype runs_ = 1;
};

}  // namespace heddle::gui
