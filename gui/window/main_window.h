// The window: rail, top bar, one page at a time, status bar; the ways from page to page.
#pragma once

#include <QMainWindow>

#include "gui/actions/actions.h"
#include "gui/actions/command_palette.h"
#include "gui/page.h"
#include "gui/session.h"
#include "gui/window/kept_session.h"
#include "gui/window/message_list.h"
#include "gui/window/notifier.h"
#include "gui/window/page_stack.h"
#include "gui/window/rail.h"
#include "gui/window/status_bar.h"
#include "gui/window/top_bar.h"

namespace heddle::gui {

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(Session& session);
  ~MainWindow() override;

  /// Shows a page by its name; an unknown name changes nothing.
  void showPage(const QString& name);
  Page* page(const QString& name) { return pages_->page(name); }
  Page* currentPage() const { return pages_->current(); }
  /// Opens a recipe file in Compose; a file that cannot be read becomes a message.
  void openRecipe(const QString& file);
  /// Restores geometry, page, the pages' layouts and what they showed at the last time with this
  /// store; saves all that as it changes from now on.
  void keepSession();
  /// The picture is complete.
  bool isReady() const;

 protected:
  bool focusNextPrevChild(bool next) override;

 private:
  void addPages();
  void addActions();
  /// Their keys work on every page.
  void addKeys(const QList<QAction*>& actions);
  void addMenu();
  void connectSession();
  void switchTo(Page* page);
  void togglePalette();
  void showHelp();
  void showPreferences();
  void resetLayouts();
  void startTour();
  void say(const QString& text, Tone tone = Tone::text, const QString& subject = {});
  /// Lets a person choose another store; openStore() where the file is one.
  void chooseStore();
  /// Starts another window for another store.
  void openStore(const QString& file);
  void trainHere();
  void save();

  Session& session_;
  Actions registry_{this};
  Job training_;
  Job looking_;
  Rail* rail_;
  TopBar* top_;
  PageStack* pages_;
  StatusBar* status_;
  MessageList* messages_;
  Notifier* notifier_;
  CommandPalette* palette_;
  QHash<QString, QAction*> goTo_;  // by the page's name
  QAction* help_;
  QAction* tour_;
  QAction* preferences_;
  QAction* store_;
  std::unique_ptr<KeptSession> kept_;
  QString shownPage_;    // the last one but Welcome
  QByteArray geometry_;  // as it was saved last
  QTimer saving_;
};

}  // namespace heddle::gui
