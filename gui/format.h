// Numbers as people read them, units always included. Source: the design's look.
#pragma once

#include <QDateTime>
#include <QString>
#include <string>

#include "base/number_text.h"
#include "gui/counted.h"

namespace heddle::gui::format {

/// The sign for a value that is not there.
inline const QString kNone = QStringLiteral("–");

// Words of base/number_text.h, which the shell uses too. `more`: so many digits more than usual,
// where these would hide a difference.
inline QString withUnit(Unit unit, double value, int more = 0) {
  return QString::fromStdString(unit_text(unit, value, more));
}
inline QString bytes(double bytes) { return withUnit(Unit::bytes, bytes); }          // 61.2 GiB
inline QString count(qint64 count) { return withUnit(Unit::count, double(count)); }  // 6,667
inline QString shortCount(double count) { return withUnit(Unit::tokens, count); }    // 8.03 B
inline QString seconds(double seconds) { return withUnit(Unit::seconds, seconds); }  // 4.50 s
inline QString percent(double fraction) { return withUnit(Unit::share, fraction); }  // 41.2 %
inline QString tokensPerSecond(double rate) { return withUnit(Unit::tokens_per_second, rate); }
inline QString loss(double value) { return withUnit(Unit::loss, value); }  // 3.981
inline QString significant(double value, int digits = 3) {                 // 4.11, 3.00e-4
  return QString::fromStdString(significant_text(value, digits));
}
QString signedValue(const QString& formatted, bool negative);  // +3.0 GiB, −708 ms

/// A name that comes from outside, as one line: control characters and those that turn the
/// direction of writing are spelled out (\n, \u202e), as in a terminal.
QString spelled(const std::string& name);
/// The same for a sentence: of a long name the middle is left out.
QString shortName(const std::string& name);

/// How points in time are written: "17 min ago", or "2026-11-18 14:10".
enum class Dates { by_distance, by_clock };
void setDates(Dates dates);  // of the whole application

/// "now", "17 min ago", "today 14:10", "yesterday", "18 Nov", "18 Nov 2024"; by the clock
/// "2024-11-18 14:10".
QString when(const QDateTime& time, const QDateTime& now = QDateTime::currentDateTime());

/// The text in lines of so many characters, broken at blanks: for tooltips, which do not wrap.
QString inLines(const QString& text, qsizetype width = 64);

/// "8 ranks", "1 rank": in the form that the number asks for, of whatever language is installed.
QString plural(qint64 count, counted::Noun noun);

}  // namespace heddle::gui::format
