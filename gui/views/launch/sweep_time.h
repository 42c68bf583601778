// How long a sweep will take: the planner's step for each kind of run, times its steps. GUI thread
// only; nothing here waits.
#pragma once

#include <QHash>
#include <QObject>
#include <QStringList>
#include <map>
#include <optional>
#include <vector>

#include "gui/models/plan_client.h"
#include "gui/views/launch/sweep_choice.h"

namespace heddle::gui {

class SweepTime : public QObject {
  Q_OBJECT

 public:
  /// `engine`: the program that plans; started with the first question.
  explicit SweepTime(const QString& engine, QObject* parent = nullptr);

  /// Runs that only differ in keys that change no step, such as the learning rate, are planned
  /// once; of many kinds some are, and stand for the others.
  void ask(const SweptRecipe& recipe, const std::vector<workbench::SweepRun>& runs);
  void forget();

  /// Seconds of all runs one after another; nothing while it is not known.
  std::optional<double> seconds() const;
  /// Why it is not known; empty: it is, or will be.
  const QString& trouble() const { return trouble_; }
  bool isAsking() const { return client_.isBusy(); }

 Q_SIGNALS:
  void changed();

 private:
  struct Kind {
    std::vector<int64_t> steps;  // of its runs
    std::optional<double> stepSeconds;
  };

  PlanClient client_;
  std::map<QString, Kind> kinds_;  // by the planner's key
  int64_t otherSteps_ = 0;         // of the runs whose kind is not planned
  QString trouble_;
};

}  // namespace heddle::gui
