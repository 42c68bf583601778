// Launch: which recipe, on which target, under which name; then the steps until it trains.
#pragma once

#include <QComboBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <memory>

#include "gui/page.h"
#include "gui/session.h"
#include "gui/views/launch/launch_data.h"
#include "gui/views/launch/launch_steps.h"
#include "gui/views/launch/recent_launches.h"
#include "gui/views/launch/steps_view.h"
#include "gui/views/launch/target_list.h"
#include "gui/widgets/card.h"
#include "gui/widgets/segment.h"
#include "workbench/launch.h"

namespace heddle::gui {

class LaunchPage : public Page {
  Q_OBJECT

 public:
  explicit LaunchPage(Session& session, QWidget* parent = nullptr);

  QString name() const override { return QStringLiteral("launch"); }
  QString title() const override { return tr("Launch"); }
  QString subtitle() const override;
  QList<QAction*> pageActions() override { return {launch_}; }
  void activated() override;
  void showRecipe(const QString& name, const QString& toml, const QString& file) override;
  /// Launches with another engine than the one beside this program.
  void setEngine(std::string path) { engine_ = std::move(path); }
  bool isReady() const override {
    return loaded_ && !reading_.running() && !checking_.running() && !probing_.running();
  }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* buildRecipe();
  QWidget* buildTargets();
  QWidget* buildRun();
  QLayout* buildForm();
  QLayout* buildButtons();
  QWidget* scrolled(QLayout* content);
  void addChoice(const RecipeChoice& choice, bool choose);
  const RecipeChoice* recipe() const;
  void refresh();
  void recipeChosen();
  void check();
  void showCheck(const RecipeCheck& check);
  void probe();
  void probed(const Result<>& outcome);
  void launch();
  using Outcome = tl::expected<storage::CreatedRun, workbench::LaunchError>;
  void ended(const Outcome& outcome);
  void showSteps();
  void showReadiness();
  void showChecks();

  QComboBox* recipes_ = nullptr;
  QWidget* left_ = nullptr;
  QGridLayout* facts_ = nullptr;
  QPlainTextEdit* toml_ = nullptr;
  QGridLayout* checks_ = nullptr;
  QLabel* faults_ = nullptr;
  QPushButton* edit_ = nullptr;
  QLineEdit* runName_ = nullptr;
  QSpinBox* ranks_ = nullptr;
  Segment* mode_ = nullptr;
  TargetList* targets_ = nullptr;
  QPushButton* probeButton_ = nullptr;
  StepsView* steps_ = nullptr;
  QPushButton* launchButton_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QPushButton* remedy_ = nullptr;
  RecentLaunches* recent_ = nullptr;
  QAction* launch_ = nullptr;

  std::vector<RecipeChoice> choices_;
  std::vector<recipe::Fault> currentFaults_;
  std::optional<probe::Report>
      probedHere_;  // this machine's: newer than the store's, if it has one
  std::shared_ptr<LaunchSteps> progress_;
  QString remedyPage_;
  std::string engine_;
  Job reading_;
  Job checking_;
  Job probing_;
  Job launching_;
  bool loaded_ = false;
};

}  // namespace heddle::gui
