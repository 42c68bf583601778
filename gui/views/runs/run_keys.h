// The keys of the runs filter: how the table writes the values of each, and how they are read where
// a person types them. Plain data.
#pragma once

#include <QDateTime>
#include <QString>
#include <optional>

namespace heddle::gui {

/// open: a key of recipe, environment or results, whose values are numbers or words.
enum class KeyKind { words, state, count, loss, rate, bytes, seconds, share, date, open };

/// A column of the table, one of its facts ("tag"), or a result, whose kind is its metric's unit.
KeyKind kindOf(const QString& key);
/// Columns that can be compared, and tags and notes.
bool isColumn(const QString& key);

/// A number as the table writes it.
QString numberText(KeyKind kind, double number);

/// A value of a filter. A date is the stretch of time that it names: a day, a minute.
struct WantedValue {
  QString text;
  std::optional<double> number;       // may be NaN or infinite
  std::optional<double> from, until;  // Unix seconds
};

/// Reads "1k", "6,667 tok/s", "1.2 GiB", "2 h", "5 %", "nan", "2026-01-01", "yesterday", "17 min
/// ago". None: it is no value of that kind. `now` is what dates count from.
std::optional<WantedValue> readValue(KeyKind kind, const QString& text, const QDateTime& now);

/// The valid values, for a message: "a number, as 1k or 6,667".
QString exampleOf(KeyKind kind);

}  // namespace heddle::gui
