#include "gui/preferences.h"

#include <algorithm>
#include <utility>

#include "gui/settings.h"

namespace heddle::gui {
namespace {

/// A member of the preferences and its key in the settings, for all of them.
template <typename Visit>
void visitPreferences(Preferences& all, Visit visit) {
  visit("theme", all.theme, Theme::Mode::light);
  visit("dates", all.dates, format::Dates::by_clock);
  visit("charts/smoothing", all.smoothing, Preferences::kMaxSmoothing);
  visit("charts/x", all.x, ChartX::clock);
  visit("charts/samples_behind", all.samplesBehind, true);
  visit("compare/at_first", all.comparedAtFirst, Preferences::kMaxCompared);
  visit("notify/ends", all.notifiesEnds, true);
  visit("notify/failures", all.notifiesFailures, true);
  visit("notify/alerts", all.notifiesAlerts, true);
}

}  // namespace

KeptPreferences& KeptPreferences::instance() {
  static KeptPreferences all;
  return all;
}

void KeptPreferences::load() {
  const auto settings = openSettings();
  Preferences read;
  // One key turned all of them off before there were kinds.
  const bool notifies = settings->value(QStringLiteral("notifications"), true).toBool();
  read.notifiesEnds = read.notifiesFailures = read.notifiesAlerts = notifies;
  visitPreferences(read, [&](const char* key, auto& value, auto most) {
    const int usual = static_cast<int>(value);
    const int kept = settings->value(QLatin1String(key), usual).toInt();
    value = static_cast<std::decay_t<decltype(value)>>(
        kept >= 0 && kept <= static_cast<int>(most) ? kept : usual);
  });
  read.comparedAtFirst = std::max(1, read.comparedAtFirst);
  keeps_ = false;
  set(read);
  keeps_ = true;
}

void KeptPreferences::set(const Preferences& chosen) {
  if (chosen == now_) return;
  const Preferences before = std::exchange(now_, chosen);
  if (keeps_) {
    const auto settings = openSettings();
    Preferences each = chosen;
    visitPreferences(each, [&](const char* key, const auto& value, auto) {
      settings->setValue(QLatin1String(key), static_cast<int>(value));
    });
  }
  format::setDates(now_.dates);
  if (now_.theme != before.theme) Theme::instance().setMode(now_.theme);
  Theme::instance().setSamplesBehind(now_.samplesBehind);
  Q_EMIT changed(before);
}

}  // namespace heddle::gui
