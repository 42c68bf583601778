#include "gui/format.h"

#include <QLocale>
#include <algorithm>
#include <array>
#include <cmath>

#include "base/one_line.h"
#include "gui/time_units.h"

namespace heddle::gui::format {
namespace {

/// Three significant digits for 1 ≤ |value| < 1000, none dropped, and `more`.
QString threeDigits(double value, int more = 0) {
  const double size = std::abs(value);
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return QLocale(QLocale::English).toString(value, 'f', decimals + more);
}

}  // namespace

QString notFinite(double value) {
  if (std::isnan(value)) return QStringLiteral("NaN");
  return value < 0 ? QStringLiteral("−∞") : QStringLiteral("∞");
}

QString bytes(double bytes, int more) {
  static const std::array<const char*, 6> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (!std::isfinite(bytes)) return notFinite(bytes);
  size_t unit = 0;
  for (; std::abs(bytes) >= 999.5 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return (unit == 0 ? QString::number(bytes, 'f', 0) : threeDigits(bytes, more)) + QChar(' ') +
         QLatin1String(units[unit]);
}

QString count(qint64 count) { return QLocale(QLocale::English).toString(count); }

QString shortCount(double count) {
  static const std::array<const char*, 5> units = {"", " k", " M", " B", " T"};
  if (!std::isfinite(count)) return notFinite(count);
  size_t unit = 0;
  for (; std::abs(count) >= 999.5 && unit + 1 < units.size(); ++unit) count /= 1000;
  return (unit == 0 ? QString::number(count, 'f', 0) : threeDigits(count)) +
         QLatin1String(units[unit]);
}

QString seconds(double seconds, int more) {
  if (!std::isfinite(seconds)) return notFinite(seconds);
  if (seconds == 0) return QStringLiteral("0 s");
  const auto* unit = std::ranges::find_if(
      kTimeUnits, [&](const TimeUnit& each) { return std::abs(seconds) >= each.from; });
  return threeDigits(seconds / unit->seconds, more) + QChar(' ') + QString::fromUtf8(unit->name);
}

QString percent(double fraction, int more) {
  if (!std::isfinite(fraction)) return notFinite(fraction);
  return QString::number(fraction * 100, 'f', 1 + more) + QStringLiteral(" %");
}

QString tokensPerSecond(double rate, int more) {
  if (!std::isfinite(rate)) return notFinite(rate);
  const bool less = std::abs(rate) < 0.9995;  // three digits of what is less than one
  return (less ? significant(rate, 3 + more) : threeDigits(rate, more)) + QStringLiteral(" tok/s");
}

QString significant(double value, int digits) {
  if (!std::isfinite(value)) return notFinite(value);
  if (value == 0) return QStringLiteral("0");
  const double size = std::abs(value);
  if (size < 1e-3 || size >= 1e7) {
    QString text = QString::number(value, 'e', digits - 1);
    static const QString zero = QStringLiteral("e-0");
    return text.replace(zero, QStringLiteral("e-")).replace(QStringLiteral("e+0"), "e");
  }
  const int before = size < 1 ? 0 : static_cast<int>(std::floor(std::log10(size))) + 1;
  const int leading = size < 1 ? -static_cast<int>(std::floor(std::log10(size))) - 1 : 0;
  const int decimals = std::max(0, digits - before + leading);
  return QLocale(QLocale::English).toString(value, 'f', decimals);
}

QString loss(double value, int more) {
  const double size = std::abs(value);
  if (size >= 99'999.5 || std::isnan(size)) return significant(value, 4 + more);
  if (size != 0 && size < 0.0995) {
    // The exponent as it is after rounding: 0.00999996 is 0.0100.
    const int exponent = QString::number(size, 'e', 2 + more).section(QChar('e'), 1).toInt();
    return exponent < -4 ? significant(value, 3 + more)
                         : QString::number(value, 'f', 2 + more - exponent);
  }
  return QString::number(size == 0 ? 0.0 : value, 'f', 3 + more);
}

QString spelled(const std::string& name) { return QString::fromStdString(one_line(name)); }

QString shortName(const std::string& name) {
  constexpr qsizetype kMax = 48, kEnd = 16;  // the end of a name distinguishes it from its siblings
  const QString whole = spelled(name);
  if (whole.size() <= kMax) return whole;
  return whole.left(kMax - kEnd - 1) + QChar(0x2026) + whole.right(kEnd);
}

QString signedValue(const QString& formatted, bool negative) {
  QString digits = formatted;
  if (digits.startsWith(QChar('-'))) digits.remove(0, 1);
  return (negative ? QChar(0x2212) : QChar('+')) + digits;
}

QString when(const QDateTime& time, const QDateTime& now) {
  const QLocale english(QLocale::English);
  if (!time.isValid()) return kNone;
  const qint64 ago = time.secsTo(now);
  if (ago >= 0 && ago < 60) return QStringLiteral("now");
  if (ago >= 0 && ago < 3600) return QStringLiteral("%1 min ago").arg(ago / 60);
  if (time.date() == now.date())
    return QStringLiteral("today ") + time.toString(QStringLiteral("HH:mm"));
  if (time.date().addDays(1) == now.date()) return QStringLiteral("yesterday");
  return english.toString(time.date(), time.date().year() == now.date().year()
                                           ? QStringLiteral("d MMM")
                                           : QStringLiteral("d MMM yyyy"));
}

QString inLines(const QString& text, qsizetype width) {
  QString lines;
  qsizetype length = 0;
  for (const QString& word : text.split(QLatin1Char(' '))) {
    if (length > 0) {
      const bool fits = length + 1 + word.size() <= width;
      lines += QLatin1Char(fits ? ' ' : '\n');
      length = fits ? length + 1 : 0;
    }
    lines += word;
    length += word.size();
  }
  return lines;
}

QString plural(qint64 count, const QString& noun) {
  return format::count(count) + QChar(' ') + noun + (count == 1 ? QString() : QStringLiteral("s"));
}

}  // namespace heddle::gui::format
