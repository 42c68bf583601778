// The preferences (Ctrl+,): each change is in use at once and kept.
#pragma once

#include <QScrollArea>

#include "gui/preferences.h"
#include "gui/session.h"
#include "gui/widgets/dialog.h"
#include "gui/widgets/search_field.h"
#include "gui/window/alert_form.h"
#include "gui/window/preference_list.h"

namespace heddle::gui {

class PreferencesDialog : public Dialog {
  Q_OBJECT

 public:
  PreferencesDialog(Session& session, QWidget* parent);

  bool isReady() const { return alerts_->isReady(); }

 Q_SIGNALS:
  /// The dialog has closed for one of these.
  void welcomeWanted();
  void tourWanted();
  void layoutResetWanted();

 private:
  void addAppearance();
  void addCharts();
  void addNotifications();
  void addWindow(const Session& session);
  /// Rows whose control changes one member of the preferences.
  void addChoice(const QString& title, const QStringList& choices, int current, const QString& note,
                 const std::function<void(Preferences&, int)>& put);
  void addNumber(const QString& title, int low, int high, int current, const QString& zero,
                 const QString& unit, const QString& note,
                 const std::function<void(Preferences&, int)>& put);
  void addTick(const QString& title, const QString& words, const QString& help, bool current,
               const std::function<void(Preferences&, bool)>& put);
  void find(const QString& words);

  SearchField* field_;
  PreferenceList* list_;
  QScrollArea* area_;
  QLabel* none_;  // in place of the list where nothing matches
  AlertForm* alerts_;
};

}  // namespace heddle::gui
