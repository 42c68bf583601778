// Values of the runs filter: how the table writes them, and how they are read where a person types
// them. Plain data. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/run.h"
#include "workbench/filter_keys.h"

namespace heddle::workbench {

/// A number as the table writes it.
std::string number_text(KeyKind kind, double number);

/// The value as one line of text, as the table writes it.
std::string words_in(KeyKind kind, const storage::Value& value);

/// "queued" … "lost".
std::vector<std::string> state_names();

/// A typed value. A date is the stretch of time that it names: a day, a minute.
struct WantedValue {
  std::string text;
  std::optional<double> number;       // may be NaN or infinite
  std::optional<double> from, until;  // Unix seconds
  bool moment = false;                // a date that is `until` where times are compared by order
};

/// Reads "1k", "6,667 tok/s", "1.5M tokens", "60 GiB", "2 h", "5 %", "nan", "2026-01-01",
/// "yesterday", "17 min ago", "2d". None: it is no value of that kind. `now`: Unix seconds, what
/// dates count from.
std::optional<WantedValue> read_value(KeyKind kind, std::string_view text, double now);

/// The valid values, for a message: "a number, as 1k or 6,667".
std::string example_of(KeyKind kind);

}  // namespace heddle::workbench
