// The effect of an edit, next to the pointer while it is being made: the prediction now, compared
// with the prediction when it began.
#pragma once

#include <QFrame>
#include <QLabel>

#include "gui/models/recipe_prediction.h"

namespace heddle::gui {

class EditHint : public QFrame {
  Q_OBJECT

 public:
  EditHint(RecipePrediction& prediction, QWidget* window);

  /// An edit begins: it is compared with the prediction shown now.
  void begin();
  /// The edit so far, and where the pointer is.
  void tell(const QString& edit, const QPoint& pointer);
  void end();

 private:
  void refresh();

  RecipePrediction& prediction_;
  std::shared_ptr<const Prediction> before_;
  QLabel *edit_, *differences_;
};

}  // namespace heddle::gui
