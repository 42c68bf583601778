// The command palette: everything that can be done and every run, by typing a part of its name.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QListView>

#include "gui/actions/actions.h"
#include "gui/actions/palette_model.h"
#include "gui/session.h"

namespace heddle::gui {

class CommandPalette : public QFrame {
  Q_OBJECT

 public:
  CommandPalette(Actions& actions, Session& session, QWidget* window);

  /// Opens over the window, or closes.
  void toggle();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void open();
  void fill(const std::vector<storage::RunSummary>& runs);
  void accept(const QModelIndex& index);
  void leave();
  /// Does it, or says why not.
  void trigger(QAction& action);
  void place();
  void showMatches();

  Actions& actions_;
  Session& session_;
  Job reading_;
  PaletteModel model_;
  QLineEdit* field_;
  QListView* list_;
  QLabel* none_;              // in place of the list where nothing fits
  QPointer<QWidget> before_;  // had the focus
};

}  // namespace heddle::gui
