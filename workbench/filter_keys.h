// The names that a filter compares: columns of the runs table, metrics, and keys of recipe,
// environment and results. Plain data. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::workbench {

/// open: a key of recipe, environment or results, whose values are numbers or words. list: several
/// words, such as tags. flag: yes or no.
enum class KeyKind {
  words,
  state,
  list,
  flag,
  count,
  loss,
  rate,
  bytes,
  seconds,
  share,
  date,
  open
};

/// A column of the runs table, or one of a run's facts.
struct FilterColumn {
  std::string_view key;    // stays the same: in filters, settings and on the command line
  std::string_view label;  // as the table's header has it
  KeyKind kind;
};
std::span<const FilterColumn> filter_columns();
/// Null: no column has that key.
const FilterColumn* filter_column(std::string_view key);

/// A metric's samples as one value: "best(loss)" is a key too, and "mean(loss, 100)" that of its
/// last 100 samples.
struct MetricKey {
  std::string aggregate;  // last, min, max, mean, best
  std::string metric;
  int64_t tail = 0;  // so many of the last samples; 0: all
};
inline constexpr int64_t kMaxTail = 10'000;
std::optional<MetricKey> metric_key(std::string_view key);
/// The key's text.
std::string to_string(const MetricKey& key);
std::span<const std::string_view> aggregates();

/// The kind of a key's values: a column's own, else by the metric's unit.
KeyKind kind_of(std::string_view key);

/// The key as a label: "tok/s a rank", "best loss", "optimizer.lr".
std::string label_of(std::string_view key);

/// The key that is called so, by its label or by another of its names; any other text as it is.
std::string key_called(std::string_view name);

/// The longest of the names with blanks ("tok/s a rank", "validation loss") that the text begins
/// with; 0: it begins with none.
size_t long_name(std::string_view text);

/// Whether `column` ("recipe.optimizer.lr") is called `key`: by its whole name, or by its end.
bool names_column(std::string_view key, std::string_view column);

/// The candidate that is spelled most like `name`; empty: none is near.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace heddle::workbench
