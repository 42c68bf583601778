// Values of recipes, environments and results as people read them.
#pragma once

#include <QStringList>
#include <optional>
#include <vector>

#include "storage/run.h"

namespace heddle::gui {

/// The value as a number; words that are one ("300", "3e-4") count.
std::optional<double> number(const storage::Value& value);

/// With the unit that the key's name tells: "peak_bytes" 61.2 GiB, "step_seconds" 2.48 s,
/// "tokens_per_second_per_rank" 6,667 tok/s, "lr" 3.00e-4. Quotes of TOML strings are dropped.
QString valueText(const QString& key, const storage::Value& value);

/// The values of one key in several runs (nullopt: none), to be shown side by side. All of them
/// have enough digits that different values look different.
QStringList valueTexts(const QString& key,
                       const std::vector<std::optional<storage::Value>>& values);

/// A key as a label: the last part, words apart: "results.peak_bytes" is "peak memory".
QString keyText(const QString& key);

/// The same of a run's result: "step, median" where it is the run's median, and no one step's.
QString resultText(const QString& key);

/// An explanation of a label; empty: the label is enough.
QString keyMeaning(const QString& key);

/// +1: more is better (tokens per second); −1: less is better (loss, seconds, bytes, collectives);
/// 0: neither.
int betterDirection(const QString& key);

}  // namespace heddle::gui
