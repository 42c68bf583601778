// Numbers as people read them, units always included. Source: the design's look.
#pragma once

#include <QDateTime>
#include <QString>
#include <string>

namespace heddle::gui::format {

/// The sign for a value that is not there.
inline const QString kNone = QStringLiteral("–");

/// "NaN", "∞" or "−∞" for a number that is not finite: every function below writes these by name,
/// without a unit.
QString notFinite(double value);

// `more`: so many digits more than are usual, where these would hide a difference.
QString bytes(double bytes, int more = 0);           // 61.2 GiB, 832 MiB, 0 B
QString count(qint64 count);                         // 6,667
QString shortCount(double count);                    // 8.03 B, 525 M, 4.10 k
QString seconds(double seconds, int more = 0);       // 4.50 s, 708 ms, 25.5 min, 2.31 h
QString percent(double fraction, int more = 0);      // 41.2 %
QString tokensPerSecond(double rate, int more = 0);  // 6,667 tok/s
QString significant(double value, int digits = 3);   // 4.11, 0.000300 as 3.00e-4
/// 3.981, 12.345; below 0.1 three significant digits (0.0412, 0.000403, 4.12e-5), from 100,000
/// on four.
QString loss(double value, int more = 0);
QString signedValue(const QString& formatted, bool negative);  // +3.0 GiB, −708 ms

/// A name that comes from outside, as one line: control characters and those that turn the
/// direction of writing are spelled out (\n, \u202e), as in a terminal.
QString spelled(const std::string& name);
/// The same for a sentence: of a long name the middle is left out.
QString shortName(const std::string& name);

/// "now", "17 min ago", "today 14:10", "yesterday", "18 Nov", "18 Nov 2024".
QString when(const QDateTime& time, const QDateTime& now = QDateTime::currentDateTime());

/// The text in lines of so many characters, broken at blanks: for tooltips, which do not wrap.
QString inLines(const QString& text, qsizetype width = 64);

/// "8 ranks", "1 rank": the noun gets its s.
QString plural(qint64 count, const QString& noun);

}  // namespace heddle::gui::format
