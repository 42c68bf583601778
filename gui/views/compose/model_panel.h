// The middle of the page: the model's picture, its layers, and the buckets next to them; where it
// is narrow, the layers above the buckets.
#pragma once

#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWidget>

#include "gui/models/recipe_document.h"
#include "gui/models/recipe_prediction.h"
#include "gui/views/compose/bucket_bands.h"
#include "gui/views/compose/edit_hint.h"
#include "gui/views/compose/layers_panel.h"
#include "gui/views/compose/model_view.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/segment.h"

namespace heddle::gui {

class ModelPanel : public QWidget {
  Q_OBJECT

 public:
  /// `prediction` is of `document`.
  ModelPanel(RecipeDocument& document, RecipePrediction& prediction, QWidget* parent = nullptr);
  LayersPanel* layers() const { return layers_; }

 Q_SIGNALS:
  /// A bucket was clicked.
  void bucketChosen(const heddle::gui::Bucket& bucket);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeHead();
  void makeModules();
  QWidget* makeBuckets();
  void refresh();
  void refreshBuckets();
  void sayParameters();
  void chooseWrapping(int mode);
  /// One edit by itself.
  void setBuckets(const KeyValues& keys);
  /// The prediction for each pipeline rank; empty without one.
  QList<LaneNote> laneNotes() const;
  /// The resolved recipe with the tokenizer's vocabulary where it names none.
  recipe::Recipe shown() const;
  /// The note under the buckets: a fault of the wrapping, or how to change them.
  QString bucketsNote(const recipe::Recipe& recipe, const BucketList& list) const;

  RecipeDocument& document_;
  RecipePrediction& prediction_;
  ElidedLabel* parameters_;
  QLabel* wrappingLabel_;
  Segment* wrapping_;
  QLabel* bucketCount_;
  QBoxLayout* body_;  // layers, and buckets next to them or below
  ModelView* model_;
  LayersPanel* layers_;
  BucketBands* bands_;
  QToolButton* every_;
  QLabel* bandsNote_;
  EditHint* hint_;
};

}  // namespace heddle::gui
