// A field's fault in a bubble next to the form, with values to click that would be
// right.
#pragma once

#include <QLabel>
#include <QPointer>

#include "gui/models/recipe_document.h"
#include "gui/views/compose/key_field.h"

namespace heddle::gui {

class FaultBubble : public QLabel {
  Q_OBJECT

 public:
  FaultBubble(RecipeDocument& document, QWidget* form);

  /// Null hides it. A bubble that was read and closed stays closed until it has something else to
  /// say.
  void tell(const KeyField* field);
  /// To the right of the form where its parent has room there, else below the field.
  void place();
  bool isUnderMouse() const;

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  void takeOffer(const QString& link);

  RecipeDocument& document_;
  QWidget* form_;
  QPointer<const KeyField> field_;  // that it points at
  QString told_;                    // field, fault and text
  bool closed_ = false;             // its words have been read
};

}  // namespace heddle::gui
