// What a person has chosen once for all pages: kept in the settings file, changed in the dialog of
// preferences (window/preferences_dialog.h), in use at once. GUI thread only.
#pragma once

#include <QObject>

#include "gui/charts/chart_x.h"
#include "gui/format.h"
#include "gui/theme/theme.h"

namespace heddle::gui {

/// Each has its key in preferences.cpp. A new one has what is usual.
struct Preferences {
  Theme::Mode theme = Theme::Mode::system;
  format::Dates dates = format::Dates::by_distance;
  // Charts that were not set otherwise.
  int smoothing = 10;  // half-life in steps; 0: none
  ChartX x = ChartX::step;
  bool samplesBehind = true;  // faint, behind a smoothed curve
  int comparedAtFirst = 2;    // runs that Compare shows while nobody has chosen any
  // Notifications of the desktop.
  bool notifiesEnds = true;
  bool notifiesFailures = true;
  bool notifiesAlerts = true;

  static constexpr int kMaxSmoothing = 10000, kMaxCompared = 10;
  bool operator==(const Preferences&) const = default;
};

/// The application's one set of preferences. Until `load` all are usual and nothing is kept, as for
/// a rendered picture.
class KeptPreferences : public QObject {
  Q_OBJECT

 public:
  static KeptPreferences& instance();

  /// Takes on what the settings file has, and keeps changes there from now on.
  void load();
  const Preferences& now() const { return now_; }
  void set(const Preferences& chosen);

 Q_SIGNALS:
  void changed(const heddle::gui::Preferences& before);

 private:
  KeptPreferences() = default;

  Preferences now_;
  bool keeps_ = false;
};

inline const Preferences& preferences() { return KeptPreferences::instance().now(); }

}  // namespace heddle::gui
