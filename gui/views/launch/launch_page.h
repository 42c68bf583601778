// Launch: which recipe, on which target, under which name; then the steps until it trains.
#pragma once

#include <QComboBox>
#include <QElapsedTimer>
#include <QGridLayout>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QTimer>
#include <memory>

#include "gui/models/data_description.h"
#include "gui/page.h"
#include "gui/session.h"
#include "gui/views/data/data_view.h"
#include "gui/views/launch/findings_view.h"
#include "gui/views/launch/launch_data.h"
#include "gui/views/launch/launch_order.h"
#include "gui/views/launch/launch_steps.h"
#include "gui/views/launch/launched_runs.h"
#include "gui/views/launch/run_form.h"
#include "gui/views/launch/steps_view.h"
#include "gui/views/launch/sweep_dialog.h"
#include "gui/views/launch/target_list.h"
#include "gui/widgets/card.h"

namespace heddle::gui {

class LaunchPage : public Page {
  Q_OBJECT

 public:
  explicit LaunchPage(Session& session, QWidget* parent = nullptr);

  QString subtitle() const override;
  QList<QAction*> pageActions() override { return {launch_, sweep_}; }
  QList<KeyTable> keys() const override { return {QueueView::keys()}; }
  void activated() override;
  void showRecipe(const QString& name, const QString& toml, const QString& file) override;
  bool isReady() const override {
    return loaded_ && !reading_.running() && !checking_.running() && !looking_.running() &&
           !probing_.running() && !data_.isAsking();
  }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* buildLeft();
  QWidget* buildRecipe();
  QWidget* buildData();
  QWidget* buildTargets();
  QWidget* buildRun();
  QLayout* buildButtons();
  void addChoice(const RecipeChoice& choice, bool choose);
  void takeCurrent();
  const RecipeChoice* recipe() const;
  void refresh();
  void recipeChosen();
  void recipeChanged();
  void targetChosen();
  void look();
  void looked(workbench::TargetNow now);
  void check();
  DataQuestion dataQuestion() const;
  void showPlaceOfData();
  void showCheck(RecipeCheck check);
  void probe();
  void launch();
  void chooseSweep();
  void ended(const LaunchOutcome& outcome, bool queued);
  void showSteps();
  void forgetLaunch();
  void showReadiness();
  QString obstacle() const;
  void settleFocus();

  QComboBox* recipes_ = nullptr;
  QWidget* left_ = nullptr;
  QGridLayout* facts_ = nullptr;
  QPlainTextEdit* toml_ = nullptr;
  DataDescription data_;
  DataView* dataView_ = nullptr;
  FindingsView* findings_ = nullptr;
  QLabel* faults_ = nullptr;
  QPushButton* edit_ = nullptr;
  RunForm* form_ = nullptr;
  TargetList* targets_ = nullptr;
  QPushButton* probeButton_ = nullptr;
  StepsView* steps_ = nullptr;
  QPushButton* launchButton_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QPushButton* remedy_ = nullptr;
  QScrollArea* targetRows_ = nullptr;
  LaunchedRuns* runs_ = nullptr;
  QAction* launch_ = nullptr;
  QAction* sweep_ = nullptr;

  std::vector<RecipeChoice> choices_;
  std::optional<RecipeCheck> check_;         // of what is shown; none while that is checked
  std::optional<workbench::TargetNow> now_;  // of the chosen target
  QElapsedTimer lookedAt_;                   // when
  std::optional<probe::Report> here_;        // this machine's: newer than the store's
  std::shared_ptr<LaunchSteps> progress_;    // of the launch that is shown; null: none is
  bool settlesFocus_ = false;                // once it is known whether Launch may be pressed
  QString remedyPage_;
  QTimer pause_;  // ranks are typed and spun: not every number is checked
  Job reading_;
  Job looking_;
  Job checking_;
  Job probing_;
  Job launching_;
  bool loaded_ = false;
};

}  // namespace heddle::gui
