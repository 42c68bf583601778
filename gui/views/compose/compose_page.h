// Compose: a recipe by fields, by picture and by text. This file joins the view to the window:
// files, history, launch.
#pragma once

#include <QAction>
#include <QMenu>
#include <QToolButton>

#include "gui/models/current_recipe.h"
#include "gui/models/data_description.h"
#include "gui/models/recipe_document.h"
#include "gui/models/recipe_prediction.h"
#include "gui/page.h"

namespace heddle::gui {

class ComposeView;

class ComposePage : public Page {
  Q_OBJECT

 public:
  explicit ComposePage(Session& session, QWidget* parent = nullptr);

  QString subtitle() const override;
  QWidget* headerWidget() override { return header_; }
  QList<QAction*> pageActions() override;
  QList<KeyTable> keys() const override;
  void activated() override;
  bool isReady() const override {
    return !document_.files().isReading() && !prediction_.isPlanning() && !data_.isAsking();
  }
  /// Asks first if the text that would be replaced is unsaved.
  void showRecipe(const QString& name, const QString& toml, const QString& file) override;
  void showPlace(int line, int column) override;
  /// Restores the last text at once: unsaved text, which it reports, or a file.
  void keepLayout() override;
  void resetLayout() override;
  /// Text that is not saved has a file of its own: see RecipeDocument::keepUnsavedIn.
  QJsonObject keptState() const override;
  void restoreState(const QJsonObject& state) override;

  RecipeDocument& document() { return document_; }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  /// Made when the page is first shown, not with the window: it has a field for every key.
  ComposeView& view();
  void makeActions();
  void makeHeader();
  void loadFirst();
  /// From one start to the next: it is the window's, not the recipe's.
  void rememberExecutor();
  bool isPicture() const;
  bool openLast();
  void sayBroughtBack();
  /// Loads the recipe that Launch has chosen meanwhile, unless something here is unsaved.
  void takeCurrent();
  void keepCurrent();
  void newRecipe();
  void openFile(const QString& file);
  void chooseFile();
  bool hasOwnFile() const;
  bool save();
  bool saveAs();
  bool mayReplace();
  void launch();
  void comparePlans();
  void searchLayout();
  void refresh();
  void describeWhyNot();
  /// Reads the data again where an edit has changed it.
  void askForData();

  RecipeDocument document_;
  PlanClient planner_;
  RecipePrediction prediction_;
  DataDescription data_;
  QStringList dataKeys_;  // of the last question
  bool loaded_ = false;
  bool remembers_ = false;  // which file was shown last
  CurrentRecipe last_;
  QWidget* header_;
  QToolButton* recipes_;
  ComposeView* view_ = nullptr;
  QAction *undo_, *redo_, *new_, *open_, *save_, *saveAs_, *search_, *compare_, *launch_;
};

}  // namespace heddle::gui
