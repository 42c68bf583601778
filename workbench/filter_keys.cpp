#include "workbench/filter_keys.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "engine/telemetry/metrics.h"

namespace heddle::workbench {
namespace {

constexpr auto kFilterColumns = std::to_array<FilterColumn>({
    {"state", "state", KeyKind::state},         {"name", "name", KeyKind::words},
    {"target", "target", KeyKind::words},       {"recipe", "recipe", KeyKind::words},
    {"steps", "steps", KeyKind::count},         {"loss", "loss", KeyKind::loss},
    {"best_loss", "best loss", KeyKind::loss},  {"toks", "tok/s a rank", KeyKind::rate},
    {"memory", "memory", KeyKind::bytes},       {"exposed", "exposed", KeyKind::share},
    {"created", "created", KeyKind::date},      {"age", "age", KeyKind::seconds},
    {"duration", "duration", KeyKind::seconds}, {"tags", "tags", KeyKind::list},
    {"notes", "notes", KeyKind::words},         {"group", "group", KeyKind::words},
    {"parent", "parent", KeyKind::words},       {"starred", "starred", KeyKind::flag},
    {"archived", "archived", KeyKind::flag},
});

constexpr std::array<std::string_view, 5> kAggregates = {"best", "last", "min", "max", "mean"};
constexpr std::array<std::string_view, 3> kParts = {"recipe.", "environment.", "results."};

/// Names that are neither a key nor a label.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOtherNames = {
    {{"tok/s", "toks"}, {"tag", "tags"}, {"best(loss)", "best_loss"}}};

constexpr std::string_view kOfLast = " of last ";

/// The number of samples; 0: it is none.
int64_t tail_in(std::string_view text) {
  int64_t tail = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tail);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && tail > 0 && tail <= kMaxTail ? tail : 0;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

KeyKind kind_of_unit(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return KeyKind::bytes;
    case Unit::tokens_per_second:
      return KeyKind::rate;
    case Unit::tokens:
    case Unit::count:
      return KeyKind::count;
    case Unit::seconds:
      return KeyKind::seconds;
    case Unit::share:
      return KeyKind::share;
    case Unit::loss:
      return KeyKind::loss;
    default:
      return KeyKind::open;
  }
}

/// The number of " of last 100" at the end of a name, which is taken from it; 0: there is none.
int64_t take_tail(std::string_view& name) {
  const size_t at = name.rfind(kOfLast);
  if (at == std::string_view::npos) return 0;
  const int64_t tail = tail_in(name.substr(at + kOfLast.size()));
  if (tail > 0) name = name.substr(0, at);
  return tail;
}

/// How much of the text is " of last 100"; 0: nothing.
size_t tail_words(std::string_view text) {
  if (!text.starts_with(kOfLast)) return 0;
  size_t end = kOfLast.size();
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
  return end > kOfLast.size() ? end : 0;
}

std::string metric_called(std::string_view name) {
  for (const telemetry::Metric& metric : telemetry::metrics())
    if (same_letters(name, metric.words) || name == metric.name) return std::string(metric.name);
  return std::string(name);
}

/// How many letters must be added, dropped or exchanged.
/// Letters of another case count for less than any other difference: 1 of kLetter.
constexpr size_t kLetter = 1000;

size_t distance(std::string_view a, std::string_view b) {
  const auto differ = [](char x, char y) -> size_t {
    if (x == y) return 0;
    const bool same =
        std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
    return same ? 1 : kLetter;
  };
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j * kLetter;
  for (const char x : a) {
    size_t diagonal = std::exchange(row[0], row[0] + kLetter);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = std::min({above + kLetter, row[j] + kLetter, diagonal + differ(x, b[j])});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::span<const FilterColumn> filter_columns() { return kFilterColumns; }

const FilterColumn* filter_column(std::string_view key) {
  const auto found = std::ranges::find(kFilterColumns, key, &FilterColumn::key);
  return found == kFilterColumns.end() ? nullptr : &*found;
}

std::span<const std::string_view> aggregates() { return kAggregates; }

std::optional<MetricKey> metric_key(std::string_view key) {
  const size_t open = key.find('(');
  if (open == std::string_view::npos || !key.ends_with(')')) return std::nullopt;
  const auto aggregate = std::ranges::find(kAggregates, key.substr(0, open));
  if (aggregate == kAggregates.end()) return std::nullopt;
  std::string_view metric = key.substr(open + 1, key.size() - open - 2);
  const size_t comma = metric.rfind(',');
  std::string_view count =
      metric.substr(comma == std::string_view::npos ? metric.size() : comma + 1);
  while (count.starts_with(' ')) count.remove_prefix(1);
  // Names have commas, too: "best(acc,top5)".
  const bool counts = !count.empty() && std::ranges::all_of(count, [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
  if (!counts) return MetricKey{std::string(*aggregate), std::string(metric)};
  const int64_t tail = tail_in(count);
  if (tail == 0 || *aggregate == "last") return std::nullopt;
  return MetricKey{std::string(*aggregate), std::string(metric.substr(0, comma)), tail};
}

std::string to_string(const MetricKey& key) {
  const std::string tail = key.tail > 0 ? ", " + std::to_string(key.tail) : "";
  return key.aggregate + '(' + key.metric + tail + ')';
}

KeyKind kind_of(std::string_view key) {
  if (const FilterColumn* column = filter_column(key)) return column->kind;
  if (const auto metric = metric_key(key))
    return kind_of_unit(telemetry::metric(metric->metric).unit);
  // A recipe's value has the unit that its key says, not a metric's.
  if (key.starts_with("recipe.") || key.starts_with("environment.")) return KeyKind::open;
  if (key.starts_with("results.")) key.remove_prefix(std::string_view("results.").size());
  return kind_of_unit(telemetry::metric(key).unit);
}

std::string label_of(std::string_view key) {
  if (const FilterColumn* column = filter_column(key)) return std::string(column->label);
  if (const auto metric = metric_key(key))
    return metric->aggregate + ' ' + telemetry::words_of(metric->metric) +
           (metric->tail > 0 ? std::string(kOfLast) + std::to_string(metric->tail) : "");
  for (const std::string_view part : kParts)
    if (key.starts_with(part)) {
      const std::string_view rest = key.substr(part.size());
      return part == "results." ? telemetry::words_of(rest) : std::string(rest);
    }
  return std::string(key);
}

std::string key_called(std::string_view name) {
  for (const FilterColumn& column : kFilterColumns)
    if (same_letters(name, column.key) || same_letters(name, column.label))
      return std::string(column.key);
  for (const auto& [other, key] : kOtherNames)
    if (same_letters(name, other)) return std::string(key);
  if (auto metric = metric_key(name)) {
    metric->metric = metric_called(metric->metric);
    const std::string key = to_string(*metric);
    return key == "best(loss)" ? "best_loss" : key;
  }
  if (const size_t blank = name.find(' '); blank != std::string_view::npos)
    if (std::ranges::find(kAggregates, name.substr(0, blank)) != kAggregates.end()) {
      std::string_view metric = name.substr(blank + 1);
      const int64_t tail = take_tail(metric);
      return to_string({std::string(name.substr(0, blank)), metric_called(metric), tail});
    }
  return metric_called(name);
}

size_t long_name(std::string_view text) {
  size_t longest = 0;
  const auto consider = [&](std::string_view name, size_t before) {
    if (name.find(' ') == std::string_view::npos && before == 0) return;
    const size_t length = before + name.size();
    if (length > longest && length <= text.size() &&
        same_letters(text.substr(before, name.size()), name))
      longest = length;
  };
  for (const FilterColumn& column : kFilterColumns) consider(column.label, 0);
  for (const telemetry::Metric& metric : telemetry::metrics()) consider(metric.words, 0);
  for (const std::string_view aggregate : kAggregates) {
    if (text.size() <= aggregate.size() || text[aggregate.size()] != ' ' ||
        !same_letters(text.substr(0, aggregate.size()), aggregate))
      continue;
    const size_t before = aggregate.size() + 1;
    for (const telemetry::Metric& metric : telemetry::metrics()) {
      consider(metric.words, before);
      consider(metric.name, before);
    }
    longest += tail_words(text.substr(longest));
  }
  return longest;
}

bool names_column(std::string_view key, std::string_view column) {
  if (key == column) return true;
  return column.size() > key.size() && column.ends_with(key) &&
         column[column.size() - key.size() - 1] == '.';
}

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  std::string found;
  size_t fewest = (std::max<size_t>(2, name.size() / 3) + 1) * kLetter;
  for (const std::string& candidate : candidates)
    // The end of a long key is what people type.
    for (std::string_view spelled = candidate; !spelled.empty();) {
      if (const size_t away = distance(name, spelled);
          away < fewest && away < name.size() * kLetter) {
        fewest = away;
        found = spelled;
      }
      const size_t dot = spelled.find('.');
      spelled = dot == std::string_view::npos ? std::string_view() : spelled.substr(dot + 1);
    }
  return found;
}

}  // namespace heddle::workbench
