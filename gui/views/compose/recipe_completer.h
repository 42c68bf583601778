// Completion in the recipe's text, and help on the key at the cursor.
#pragma once

#include <QObject>
#include <QPlainTextEdit>

#include "engine/recipe/completion.h"
#include "gui/models/recipe_document.h"
#include "gui/widgets/completion_popup.h"

namespace heddle::gui {

class RecipeCompleter : public QObject {
  Q_OBJECT

 public:
  RecipeCompleter(RecipeDocument& document, QPlainTextEdit* editor);

  /// The help on the key at a place of the text; empty: there is none.
  QString helpAt(int position) const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  enum class Asked { byTyping, byKey };
  void offer(Asked asked);
  void take(int index);
  void showHelp();

  RecipeDocument& recipe_;
  QPlainTextEdit* editor_;
  CompletionPopup* popup_;
  recipe::Completion completion_;
  int added_ = 0;     // letters of the last edit
  int offered_ = -1;  // the cursor's position then
  bool taking_ = false;
};

}  // namespace heddle::gui
