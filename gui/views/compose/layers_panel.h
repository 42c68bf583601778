// The model's picture and under it its layers to choose from, the exceptions by layers, and, always
// in sight, the actions on the chosen ones.
#pragma once

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <QWidget>
#include <optional>

#include "gui/models/recipe_document.h"
#include "gui/views/compose/layer_bar.h"
#include "gui/views/compose/layer_slider.h"
#include "gui/views/compose/layer_strip.h"

namespace heddle::gui {

class LayersPanel : public QWidget {
  Q_OBJECT

 public:
  /// `picture`: shown above the layers, scrolls with them; may be null.
  explicit LayersPanel(RecipeDocument& document, QWidget* picture = nullptr,
                       QWidget* parent = nullptr);

  const ModuleRange& range() const { return range_; }
  /// Chooses modules; with `extend` from where the choice began.
  void choose(const ModuleRange& range, bool extend);
  /// The prediction for each pipeline rank.
  void setNotes(const QList<LaneNote>& notes) { strip_->setNotes(notes); }

 Q_SIGNALS:
  void rangeChanged(const ModuleRange& range);
  /// An end of an exception is being dragged; its current range in words.
  void dragBegun();
  void dragged(const QString& words);
  void dragEnded();
  /// Asks for predictions with other modes of an exception, and without it.
  void neighboursRequested(const heddle::gui::LayerException& exception, const QString& name,
                           const QWidget* at);

 private:
  struct Row {
    QWidget* whole;
    QLabel* name;
    QComboBox* mode;
    LayerSlider* slider;
  };

  void refresh();
  void refreshBar();
  void refreshRows();
  Row addRow();
  QWidget* makeContent(QWidget* picture);
  /// All actions on the chosen layers: for the bar and the menu.
  QList<QAction*> makeActions();
  void openMenu(const QPoint& at);
  void wrap(bool together);
  void recompute(recipe::RecomputeMode mode);
  /// Scrolls to the first exception that any of these layers has.
  void showException(int first, int last);
  void setLayers(const recipe::Recipe& of, int first, int last,
                 std::optional<recipe::RecomputeMode> mode);

  RecipeDocument& document_;
  QScrollArea* area_;  // the picture and the layers
  QWidget* content_;   // all but the picture
  LayerStrip* strip_;
  QList<QAction*> actions_;  // of buckets, and of recomputation
  LayerBar* bar_;
  QVBoxLayout* exceptions_;
  QList<Row> rows_;
  ModuleRange range_;
  // While an end is dragged: the recipe as it was, and the row that it belongs to.
  std::optional<recipe::Recipe> before_;
  int dragged_ = -1;
};

}  // namespace heddle::gui
