// Values of recipes, environments and results as people read them.
#pragma once

#include <QStringList>
#include <optional>
#include <string>
#include <vector>

#include "storage/run.h"

namespace heddle::gui {

/// A result of the run as a number; nullopt: it has none of that name.
std::optional<double> resultOf(const storage::RunDetail& run, const std::string& name);

/// A value as people read it (storage/value_text.h). Quotes of TOML strings are dropped.
QString valueText(const std::string& key, const storage::Value& value);

/// The values of one key in several runs (nullopt: none), to be shown side by side. All of them
/// have enough digits that different values look different.
QStringList valueTexts(const std::string& key,
                       const std::vector<std::optional<storage::Value>>& values);

/// A result's name as a label: "peak_bytes" is "peak memory".
QString keyText(const std::string& key);

/// The same of a measured result: "step, median" where it is the median of the run's steps.
QString resultText(const std::string& key);

}  // namespace heddle::gui
