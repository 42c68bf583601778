// The window: rail, top bar, one page at a time, status bar; the ways from page to page.
#pragma once

#include <QMainWindow>
#include <QStackedWidget>

#include "gui/actions/actions.h"
#include "gui/actions/command_palette.h"
#include "gui/page.h"
#include "gui/session.h"
#include "gui/settings.h"
#include "gui/window/message_list.h"
#include "gui/window/notifier.h"
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
  Page* page(const QString& name) const;
  Page* currentPage() const;
  /// Opens a recipe file in Compose; a file that cannot be read becomes a message.
  void openRecipe(const QString& file);
  /// Restores geometry, page and the pages' layouts of the last time; saves them as they change
  /// from now on.
  void keepSession();
  /// The picture is complete.
  bool isReady() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void moveEvent(QMoveEvent* event) override;

 private:
  void addPages();
  void addActions();
  void addMenu();
  void connectSession();
  void switchTo(Page* page);
  void showHelp();
  void startTour();
  void say(const QString& text, Tone tone = Tone::text, const QString& subject = {});
  void trainHere();
  void save();

  Session& session_;
  Actions registry_{this};
  Job training_;
  Rail* rail_;
  TopBar* top_;
  QStackedWidget* pages_;
  StatusBar* status_;
  MessageList* messages_;
  Notifier* notifier_;
  CommandPalette* palette_;
  QHash<Page*, QAction*> pageActions_;
  QAction* help_;
  QAction* tour_;
  std::unique_ptr<QSettings> settings_;
  QTimer saving_;
};

}  // namespace heddle::gui
