// What an edit changes, next to the pointer while it is being made: what is predicted now, held
// against what was predicted when it began.
#pragma once

#include <QFrame>
#include <QLabel>

#include "gui/models/recipe_prediction.h"

namespace heddle::gui {

class EditHint : public QFrame {
  Q_OBJECT

 public:
  EditHint(RecipePrediction& prediction, QWidget* window);

  /// An edit begins: what is shown now is what it is held against.
  void begin();
  /// What it has come to, and where the pointer is.
  void tell(const QString& edit, const QPoint& pointer);
  void end();

 private:
  void refresh();

  RecipePrediction& prediction_;
  std::shared_ptr<const Prediction> before_;
  QLabel *edit_, *differences_;
};

}  // namespace heddle::gui
