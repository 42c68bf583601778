// The recipe's text: line numbers, colours, faults at their lines. Its edits go to the document,
// whose history is the only one.
#pragma once

#include <QPlainTextEdit>

#include "gui/models/recipe_document.h"

namespace heddle::gui {

class RecipeEditor : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit RecipeEditor(RecipeDocument& document, QWidget* parent = nullptr);

  /// Puts the cursor at a 1-based line and column, gives the editor the focus, and marks the line
  /// until the cursor leaves it.
  void goTo(int line, int column);
  int gutterWidth() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  friend class Gutter;
  void takeText();
  void showText();
  void markFaults();
  void paintGutter(QPaintEvent* event);
  const recipe::Fault* faultAt(int line) const;
  bool isWarning(int line) const;

  RecipeDocument& recipe_;
  QWidget* gutter_;
  int marked_ = 0;  // 1-based; 0: no line
};

}  // namespace heddle::gui
