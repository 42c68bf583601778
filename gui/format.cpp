#include "gui/format.h"

#include <QCoreApplication>
#include <QLocale>
#include <cstdlib>

#include "base/one_line.h"

namespace heddle::gui::format {
namespace {

Dates datesInUse = Dates::by_distance;

struct Words {
  Q_DECLARE_TR_FUNCTIONS(Format)
};

}  // namespace

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

void setDates(Dates dates) { datesInUse = dates; }

QString when(const QDateTime& time, const QDateTime& now) {
  const QLocale english(QLocale::English);
  if (!time.isValid()) return kNone;
  if (datesInUse == Dates::by_clock) return time.toString(QStringLiteral("yyyy-MM-dd HH:mm"));
  const qint64 ago = time.secsTo(now);
  if (ago >= 0 && ago < 60) return Words::tr("now");
  if (ago >= 0 && ago < 3600) return Words::tr("%1 min ago").arg(ago / 60);
  if (time.date() == now.date())
    return Words::tr("today %1").arg(time.toString(QStringLiteral("HH:mm")));
  if (time.date().addDays(1) == now.date()) return Words::tr("yesterday");
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

QString plural(qint64 count, counted::Noun noun) {
  // Plural rules look at the last digits, which stay when a number is cut to fit an int.
  constexpr qint64 kCut = 1'000'000;
  const auto number = static_cast<int>(std::abs(count) < kCut ? count : kCut + count % kCut);
  QString text = QCoreApplication::translate("counted", noun.forms, nullptr, number);
  if (text == QLatin1String(noun.forms))
    text.replace(QLatin1String("(s)"), QLatin1String(count == 1 ? "" : "s"));
  return text.arg(format::count(count));
}

}  // namespace heddle::gui::format
