// The column with the prediction for the recipe on the chosen hardware. Each number
// opens why.
#pragma once

#include <QComboBox>
#include <QFrame>
#include <QGridLayout>
#include <QToolButton>
#include <array>

#include "gui/models/recipe_prediction.h"
#include "gui/views/compose/exposed_list.h"
#include "gui/views/compose/figure_tile.h"
#include "gui/views/compose/memory_figures.h"
#include "gui/views/compose/published_line.h"
#include "gui/views/compose/shortfall_view.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {

class PredictionPanel : public QFrame {
  Q_OBJECT

 public:
  explicit PredictionPanel(RecipePrediction& prediction, QWidget* parent = nullptr);

 Q_SIGNALS:
  /// The recipe is to be planned for other hardware: a name of the catalogue.
  void hardwareChosen(const QString& name);
  /// See ShortfallView.
  void shortfallClosed(const heddle::gui::KeyValues& pairs, const QString& words);
  /// The pinned plan and the one that is shown are to be compared.
  void compareRequested();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeHead();
  QWidget* makeNumbers();
  void refresh();
  void refreshHardware();
  void refreshState();
  void refreshNumbers();
  void refreshTiles();
  void refreshExposed();
  void open(const Why& why, const QWidget* at);
  const recipe::Recipe& recipe() const { return prediction_.document().resolved().recipe; }

  RecipePrediction& prediction_;
  QTimer slow_;
  QLabel* activity_;
  QPushButton* compare_;
  QToolButton* pin_;
  QComboBox *hardware_, *executor_;
  QLabel* hardwareWords_;
  QLabel* state_;  // stale, and why; or the planner's progress
  QLabel* pinned_;
  QWidget* numbers_;
  QLabel* empty_;
  MemoryFigures* memory_;
  ShortfallView* shortfall_;
  QGridLayout* grid_;
  std::array<FigureTile*, kFigures.size()> tiles_;
  QWidget* conventionRow_;
  QLabel *convention_, *certainty_, *remarks_;
  PublishedLine* published_;
  ExposedList* exposed_;
};

}  // namespace heddle::gui
