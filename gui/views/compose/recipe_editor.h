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

  /// Puts the cursor at a 1-based line and column and gives the editor the focus.
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
};

}  // namespace heddle::gui
