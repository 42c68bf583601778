#include "gui/views/runs/run_keys.h"

#include <QHash>
#include <QLocale>
#include <QObject>
#include <QRegularExpression>
#include <cmath>
#include <limits>

#include "engine/telemetry/metrics.h"
#include "gui/format.h"
#include "gui/models/state_look.h"
#include "gui/views/runs/runs_model.h"

namespace heddle::gui {
namespace {

constexpr std::string_view kResults = "results.";  // may be left out

using Units = QHash<QString, double>;

const Units& unitsOf(KeyKind kind) {
  static const Units counts = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}};
  static const Units rates = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"tok/s", 1}};
  static const Units bytes = {{"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
                              {"TiB", 0x1p40}, {"PiB", 0x1p50}, {"kB", 1e3},     {"MB", 1e6},
                              {"GB", 1e9},     {"TB", 1e12}};
  static const Units seconds = {{"s", 1},     {"ms", 1e-3}, {"µs", 1e-6}, {"us", 1e-6},
                                {"ns", 1e-9}, {"min", 60},  {"h", 3600},  {"d", 86400}};
  static const Units shares = {{"%", 0.01}, {"", 1}};
  switch (kind) {
    case KeyKind::rate:
      return rates;
    case KeyKind::bytes:
      return bytes;
    case KeyKind::seconds:
      return seconds;
    case KeyKind::share:
      return shares;
    default:
      return counts;
  }
}

std::optional<double> notFinite(const QString& text) {
  static const QHash<QString, double> names = {
      {"nan", std::numeric_limits<double>::quiet_NaN()},
      {"inf", std::numeric_limits<double>::infinity()},
      {"infinity", std::numeric_limits<double>::infinity()},
      {"∞", std::numeric_limits<double>::infinity()}};
  const bool negative = text.startsWith(QChar('-')) || text.startsWith(QChar(0x2212));
  const auto found = names.constFind(text.mid(negative ? 1 : 0).toLower());
  if (found == names.constEnd()) return std::nullopt;
  return negative ? -*found : *found;
}

std::optional<double> readNumber(KeyKind kind, const QString& text) {
  if (const auto named = notFinite(text)) return named;
  static const QRegularExpression number(QStringLiteral(
      "^([-+\u2212]?(?:\\d[\\d,_]*)?(?:\\.\\d+)?(?:[eE][-+\u2212]?\\d+)?) ?([^\\d\\s]*)$"));
  const auto match = number.match(text);
  if (!match.hasMatch()) return std::nullopt;
  const QString unit = match.captured(2);
  const Units& units = unitsOf(kind);
  const auto factor = units.constFind(kind == KeyKind::bytes ? unit
                                      : unit == "K"          ? QString("k")
                                                             : unit);
  if (factor == units.constEnd()) return std::nullopt;
  QString digits = match.captured(1);
  digits.remove(QChar(',')).remove(QChar('_')).replace(QChar(0x2212), QChar('-'));
  bool ok = false;
  const double value = digits.toDouble(&ok);
  // Without its sign a share is a fraction: 5 could be meant as either.
  if (kind == KeyKind::share && unit.isEmpty() && std::abs(value) >= 1) return std::nullopt;
  return ok ? std::optional(value * *factor) : std::nullopt;
}

struct Stretch {
  QDateTime from, until;
};

std::optional<Stretch> timeOfDay(const QDate& date, const QString& text) {
  for (const char* form : {"HH:mm:ss", "HH:mm", "H:mm"}) {
    const QTime time = QTime::fromString(text, QLatin1String(form));
    if (!time.isValid()) continue;
    const QDateTime from(date, time);
    return Stretch{from, from.addSecs(qstrlen(form) > 5 ? 1 : 60)};
  }
  return std::nullopt;
}

std::optional<QDate> dayOf(const QString& text, const QDate& today) {
  if (text == QStringLiteral("today")) return today;
  if (text == QStringLiteral("yesterday")) return today.addDays(-1);
  for (const char* form : {"yyyy-MM-dd", "d MMM yyyy", "d MMMM yyyy"})
    if (const QDate date = QLocale(QLocale::English).toDate(text, QLatin1String(form));
        date.isValid())
      return date;
  // Without its year: this year's, as the table writes it.
  for (const char* form : {"d MMM yyyy", "d MMMM yyyy"})
    if (const QDate date =
            QLocale(QLocale::English)
                .toDate(text + QStringLiteral(" %1").arg(today.year()), QLatin1String(form));
        date.isValid())
      return date;
  return std::nullopt;
}

std::optional<Stretch> readDate(const QString& typed, const QDateTime& now) {
  const QString text = QString(typed).replace(QChar('T'), QChar(' '));
  if (const auto day = dayOf(text, now.date()))
    return Stretch{day->startOfDay(), day->addDays(1).startOfDay()};
  if (text == QStringLiteral("now")) return Stretch{now.addSecs(-60), now.addSecs(1)};
  static const QRegularExpression ago(QStringLiteral("^(\\d+) ?(s|min|h|d) ago$"));
  if (const auto match = ago.match(text); match.hasMatch()) {
    const auto unit = static_cast<qint64>(unitsOf(KeyKind::seconds)[match.captured(2)]);
    const qint64 count = match.captured(1).toLongLong();
    if (count > 1'000'000) return std::nullopt;
    return Stretch{now.addSecs(-(count + 1) * unit), now.addSecs(-count * unit)};
  }
  const qsizetype space = text.lastIndexOf(QChar(' '));
  if (space < 0) return std::nullopt;
  const auto day = dayOf(text.left(space), now.date());
  return day ? timeOfDay(*day, text.mid(space + 1)) : std::nullopt;
}

const QHash<QString, KeyKind>& columns() {
  static const QHash<QString, KeyKind> kinds = {
      {"state", KeyKind::state},     {"name", KeyKind::words},    {"target", KeyKind::words},
      {"recipe", KeyKind::words},    {"tag", KeyKind::words},     {"notes", KeyKind::words},
      {"steps", KeyKind::count},     {"loss", KeyKind::loss},     {"toks", KeyKind::rate},
      {"memory", KeyKind::bytes},    {"exposed", KeyKind::share}, {"created", KeyKind::date},
      {"duration", KeyKind::seconds}};
  return kinds;
}

}  // namespace

bool isColumn(const QString& key) { return columns().contains(key); }

KeyKind kindOf(const QString& key) {
  const auto column = columns().constFind(key);
  if (column != columns().constEnd()) return *column;
  const std::string name = key.toStdString();
  switch (
      telemetry::metric(name.starts_with(kResults) ? name.substr(kResults.size()) : name).unit) {
    case Unit::bytes:
      return KeyKind::bytes;
    case Unit::tokens_per_second:
      return KeyKind::rate;
    case Unit::seconds:
      return KeyKind::seconds;
    case Unit::share:
      return KeyKind::share;
    default:
      return KeyKind::open;
  }
}

QString numberText(KeyKind kind, double number) {
  switch (kind) {
    case KeyKind::loss:
      return format::loss(number);
    case KeyKind::bytes:
      return format::bytes(number);
    case KeyKind::seconds:
      return format::seconds(number);
    case KeyKind::share:
      return format::percent(number);
    case KeyKind::count:
    case KeyKind::rate:
      return format::withUnit(Unit::count, number);
    default:
      return QString::number(number, 'g', 9);
  }
}

std::optional<WantedValue> readValue(KeyKind kind, const QString& text, const QDateTime& now) {
  WantedValue value{.text = text, .number = {}, .from = {}, .until = {}};
  if (kind == KeyKind::words || kind == KeyKind::state) return value;
  if (kind == KeyKind::date) {
    const auto stretch = readDate(text, now);
    if (!stretch) return std::nullopt;
    value.from = static_cast<double>(stretch->from.toMSecsSinceEpoch()) / 1000;
    value.until = static_cast<double>(stretch->until.toMSecsSinceEpoch()) / 1000;
    return value;
  }
  value.number = readNumber(kind, text);
  if (!value.number && kind != KeyKind::open) return std::nullopt;
  return value;
}

QString exampleOf(KeyKind kind) {
  switch (kind) {
    case KeyKind::state:
      return QObject::tr("one of %1").arg(RunsModel::states().join(QStringLiteral(", ")));
    case KeyKind::bytes:
      return QObject::tr("an amount with its unit, as 1.2 GiB");
    case KeyKind::seconds:
      return QObject::tr("a duration with its unit, as 2 h or 45 s");
    case KeyKind::share:
      return QObject::tr("a percentage, as 5 %, or a fraction, as 0.05");
    case KeyKind::date:
      return QObject::tr("a date, as 2026-01-31, yesterday or 2 h ago");
    case KeyKind::words:
      return QObject::tr("words");
    default:
      return QObject::tr("a number, as 1k, 3e-4 or nan");
  }
}

}  // namespace heddle::gui
