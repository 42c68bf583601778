// The recipe's text: line numbers, colours, faults at their lines. Its edits go to the document,
// whose history is the only one; edits from elsewhere are scrolled to and marked.
#pragma once

#include <QPlainTextEdit>

#include "gui/models/recipe_document.h"

namespace heddle::gui {

class RecipeCompleter;

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
  /// For another recipe: drops the marks of the one before.
  void begin();
  void markLines();
  /// Marks the lines that an edit elsewhere has changed, and scrolls to them where they are out of
  /// sight.
  void follow(const QString& before, const QString& after);
  void paintGutter(QPaintEvent* event);
  const recipe::Fault* faultAt(int line) const;
  bool isWarning(int line) const;

  QString tipAt(const QPoint& position) const;

  RecipeDocument& recipe_;
  RecipeCompleter* completer_;
  QWidget* gutter_;
  /// 0-based: the line one has gone to, or the lines that an edit elsewhere changed.
  QList<int> marked_;
};

}  // namespace heddle::gui
