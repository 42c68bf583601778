// All faults of the recipe, one a row; a click goes to its place in the text.
#pragma once

#include <QListWidget>

#include "gui/models/recipe_document.h"

namespace heddle::gui {

class FaultList : public QListWidget {
  Q_OBJECT

 public:
  explicit FaultList(RecipeDocument& document, QWidget* parent = nullptr);
  /// As tall as the faults, up to a limit; less where the text above needs the room.
  QSize sizeHint() const override { return {240, content_}; }
  QSize minimumSizeHint() const override { return {120, 56}; }

 Q_SIGNALS:
  void placeRequested(int line, int column);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  void fit();

  RecipeDocument& document_;
  int content_ = 0;
};

}  // namespace heddle::gui
