// Numbers as people read them, units always included. Source: the design's look.
#pragma once

#include <QDateTime>
#include <QString>

namespace heddle::gui::format {

/// The sign for a value that is not there.
inline const QString kNone = QStringLiteral("–");

// `more`: so many digits more than are usual, where these would hide a difference.
QString bytes(double bytes, int more = 0);                     // 61.2 GiB, 832 MiB, 0 B
QString count(qint64 count);                                   // 6,667
QString shortCount(double count);                              // 8.03 B, 525 M, 4.10 k
QString seconds(double seconds, int more = 0);                 // 4.50 s, 708 ms, 25.5 min, 2.31 h
QString percent(double fraction, int more = 0);                // 41.2 %
QString tokensPerSecond(double rate, int more = 0);            // 6,667 tok/s
QString significant(double value, int digits = 3);             // 4.11, 0.000300 as 3.00e-4
QString loss(double value, int more = 0);                      // 3.981
QString signedValue(const QString& formatted, bool negative);  // +3.0 GiB, −708 ms

/// "now", "17 min ago", "today 14:10", "yesterday", "18 Nov", "18 Nov 2024".
QString when(const QDateTime& time, const QDateTime& now = QDateTime::currentDateTime());

/// The text in lines of so many characters, broken at blanks: for tooltips, which do not wrap.
QString inLines(const QString& text, qsizetype width = 64);

/// "8 ranks", "1 rank": the noun gets its s.
QString plural(qint64 count, const QString& noun);

}  // namespace heddle::gui::format
