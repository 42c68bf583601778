// What is wrong with a field, in a bubble under it, with values to click that would be right.
#pragma once

#include <QLabel>

#include "gui/models/recipe_document.h"
#include "gui/views/compose/key_field.h"

namespace heddle::gui {

class FaultBubble : public QLabel {
  Q_OBJECT

 public:
  FaultBubble(RecipeDocument& document, QWidget* form);

  /// May be null: of none. What has been read and closed stays closed until it says something else.
  void tell(const KeyField* field);
  bool isUnderMouse() const;

 protected:
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  void takeOffer(const QString& link);

  RecipeDocument& document_;
  QString told_;         // field, fault and text
  bool closed_ = false;  // what it says has been read
};

}  // namespace heddle::gui
