#include "workbench/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <random>
#include <set>
#include <string_view>

#include "engine/recipe/nearest.h"
#include "engine/recipe/parse.h"
#include "engine/recipe/text.h"

namespace heddle::workbench {
namespace {

constexpr size_t kMaxValueInName = 24;
/// Picks in a row that were there already.
constexpr int kMaxRepeatedPicks = 1000;

/// "lr" of "optimizer.lr".
std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

template <typename Number>
std::optional<Number> whole_text_as(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Runs of both would be the same: 1e-4 and 0.0001.
bool is_same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto left = whole_text_as<double>(a), right = whole_text_as<double>(b);
  return left && right && *left == *right;
}

/// Commas within brackets or quotes do not divide.
std::vector<std::string> members_of(std::string_view value) {
  std::vector<std::string> members(1);
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (quote) {
      if (c == '\\' && quote == '"' && i + 1 < value.size())
        members.back() += value[i++];
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
      ++depth;
    } else if (c == ']' || c == '}' || c == ')') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      members.emplace_back();
      continue;
    }
    members.back() += value[i];
  }
  if (members.size() > 1)
    for (std::string& member : members) member = std::string(trimmed(member));
  return members;
}

std::vector<std::string> last_parts() {
  std::vector<std::string> parts;
  for (const recipe::KeyInfo& info : recipe::keys()) parts.push_back(last_part(info.key));
  return parts;
}

/// "optimizer.lr" of "lr"; a name that no key ends in stays, and the recipe says that it is none.
Result<std::string> full_key(const std::string& name) {
  if (name.find('.') != name.npos || recipe::find_key(name)) return name;
  std::vector<std::string> meant;
  for (const recipe::KeyInfo& info : recipe::keys())
    if (last_part(info.key) == name) meant.push_back(info.key);
  if (const std::string near = recipe::nearest(name, last_parts()); meant.empty() && !near.empty())
    return fail("--set: {}: unknown key (did you mean {})", name, full_key(near).value_or(near));
  if (meant.size() > 1)
    return fail("--set: {}: several keys end so; valid: {}", name, recipe::joined(meant, " | "));
  return meant.empty() ? name : meant[0];
}

/// Nothing: the text is a value. An error: it is a range that cannot be.
Result<std::optional<SweepRange>> range_of(const std::string& key, std::string_view text) {
  SweepRange range;
  const std::string shown(text);
  if (text.starts_with("log(") && text.ends_with(')')) {
    range.log = true;
    text = text.substr(4, text.size() - 5);
  }
  const size_t dots = text.find("..");
  const auto low = whole_text_as<double>(trimmed(text.substr(0, dots)));
  const auto high =
      dots == text.npos ? std::nullopt : whole_text_as<double>(trimmed(text.substr(dots + 2)));
  if (!low || !high) {
    if (!range.log) return std::nullopt;
    return fail("--set: {}: {} is no range; valid: as in log(1e-5..1e-3)", key, shown);
  }
  range.low = *low;
  range.high = *high;
  if (!(std::isfinite(*low) && std::isfinite(*high) && *low < *high))
    return fail("--set: {}: {}: a range goes from a number to a larger one", key, shown);
  if (range.log && range.low <= 0)
    return fail("--set: {}: {}: a logarithmic range begins above 0", key, shown);
  const recipe::KeyInfo* info = recipe::find_key(key);
  range.whole = info && info->type == "integer";
  if (range.whole && std::ceil(range.low) > std::floor(range.high))
    return fail("--set: {}: {}: no whole number is in it", key, shown);
  return range;
}

/// A key with its values or range. One value: it is the same in all runs.
Result<SweepKey> read_key(const std::string& name, const std::string& value) {
  SweepKey read;
  const Result<std::string> key = full_key(name);
  if (!key) return fail(key);
  read.key = *key;
  read.values = members_of(value);
  for (size_t i = 0; i < read.values.size() && read.values.size() > 1; ++i) {
    if (read.values[i].empty())
      return fail("--set: {}: value {} of {} is empty; valid: as in {}=1,2; quotes keep a comma",
                  read.key, i + 1, read.values.size(), name);
    for (size_t before = 0; before < i; ++before) {
      if (!is_same_value(read.values[before], read.values[i])) continue;
      if (read.values[before] == read.values[i])
        return fail("--set: {}: {} is given twice", read.key, read.values[i]);
      return fail("--set: {}: {} and {} are the same value", read.key, read.values[before],
                  read.values[i]);
    }
  }
  if (read.values.size() > 1) return read;
  const auto range = range_of(read.key, trimmed(value));
  if (!range) return fail(range);
  read.range = *range;
  if (read.range) read.values.clear();
  return read;
}

Result<std::optional<RandomPicks>> read_how(const std::string& how) {
  if (how.empty() || how == "grid") return std::nullopt;
  constexpr std::string_view kRandom = "random:";
  std::string_view rest = how;
  if (rest.starts_with(kRandom)) {
    rest.remove_prefix(kRandom.size());
    const size_t colon = rest.find(':');
    const auto runs = whole_text_as<int64_t>(rest.substr(0, colon));
    const auto seed = colon == rest.npos ? std::optional<uint64_t>(0)
                                         : whole_text_as<uint64_t>(rest.substr(colon + 1));
    if (runs && seed && *runs >= 1 && *runs <= kMaxSweepRuns) return RandomPicks{*runs, *seed};
  }
  return fail("--sweep {}: valid: grid, random:N or random:N:SEED, of at most {} runs", how,
              kMaxSweepRuns);
}

/// The last part of a path, a word without its quotes; what is long is called by its place.
std::string value_in_name(const std::string& value, size_t index) {
  std::string text = value;
  if (text.size() >= 2 && text.front() == text.back() && (text[0] == '"' || text[0] == '\''))
    text = text.substr(1, text.size() - 2);
  if (!text.starts_with('[')) text = text.substr(text.find_last_of('/') + 1);
  return text.empty() || text.size() > kMaxValueInName ? fmt::format("#{}", index + 1) : text;
}

/// Keys by their last part, where no other of the sweep ends so.
std::vector<std::string> names_in(const std::vector<SweepKey>& keys) {
  std::vector<std::string> names;
  for (const SweepKey& key : keys) {
    const std::string leaf = last_part(key.key);
    const auto alike = std::ranges::count_if(
        keys, [&](const SweepKey& other) { return last_part(other.key) == leaf; });
    names.push_back(alike > 1 ? key.key : leaf);
  }
  return names;
}

/// A run being put together.
class RunOfSweep {
 public:
  RunOfSweep(const Sweep& sweep, const std::vector<std::string>& names) : names_(names) {
    run_.sets = sweep.sets;
  }
  void add(size_t key, const SweepKey& of, const std::string& value, size_t index) {
    run_.sets.push_back(of.key + "=" + value);
    run_.label += fmt::format("{}{}={}", run_.label.empty() ? "" : " ", names_[key],
                              value_in_name(value, index));
  }
  SweepRun done() && { return std::move(run_); }

 private:
  const std::vector<std::string>& names_;
  SweepRun run_;
};

/// Runs of the grid; more than the limit count as one more than that.
int64_t grid_size(const std::vector<SweepKey>& keys) {
  int64_t runs = 1;
  for (const SweepKey& key : keys)
    runs = std::min(runs * static_cast<int64_t>(key.values.size()), kMaxSweepRuns + 1);
  return runs;
}

Result<std::vector<SweepRun>> grid(const Sweep& sweep) {
  for (const SweepKey& key : sweep.keys)
    if (key.range)
      return fail(
          "--set: {}: a range is for random picks; valid: --sweep random:N, or values as in {}=1,2",
          key.key, key.key);
  const int64_t runs = grid_size(sweep.keys);
  if (runs > kMaxSweepRuns)
    return fail("the grid has more than {} runs; valid: fewer values, or --sweep random:N",
                kMaxSweepRuns);
  const std::vector<std::string> names = names_in(sweep.keys);
  std::vector<SweepRun> all;
  for (int64_t i = 0; i < runs; ++i) {
    RunOfSweep run(sweep, names);
    int64_t stride = runs;
    for (size_t k = 0; k < sweep.keys.size(); ++k) {
      const SweepKey& key = sweep.keys[k];
      const auto values = static_cast<int64_t>(key.values.size());
      stride /= values;
      const auto at = static_cast<size_t>(i / stride % values);
      run.add(k, key, key.values[at], at);
    }
    all.push_back(std::move(run).done());
  }
  return all;
}

/// The same numbers with every standard library.
class Picker {
 public:
  explicit Picker(uint64_t seed) : engine_(seed) {}
  /// 0 ≤ x < 1.
  double fraction() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  size_t index(size_t count) {
    return std::min(static_cast<size_t>(fraction() * static_cast<double>(count)), count - 1);
  }
  std::string number(const SweepRange& range) {
    const double x = fraction();
    if (range.whole) return fmt::format("{}", whole(range, x));
    const double value = range.log ? range.low * std::pow(range.high / range.low, x)
                                   : range.low + (range.high - range.low) * x;
    // Three digits tell picks apart, and are a name.
    const double rounded = std::strtod(fmt::format("{:.2e}", value).c_str(), nullptr);
    return recipe::number_text(std::clamp(rounded, range.low, range.high));
  }

 private:
  static int64_t whole(const SweepRange& range, double x) {
    const double low = std::ceil(range.low), high = std::floor(range.high);
    const double value = range.log ? std::floor(low * std::pow((high + 1) / low, x))
                                   : low + std::floor((high - low + 1) * x);
    return static_cast<int64_t>(std::clamp(value, low, high));
  }
  std::mt19937_64 engine_;
};

Result<std::vector<SweepRun>> picks(const Sweep& sweep) {
  const bool only_values =
      std::ranges::none_of(sweep.keys, [](const SweepKey& key) { return key.range.has_value(); });
  const int64_t runs = sweep.picks->runs;
  if (only_values && grid_size(sweep.keys) < runs)
    return fail("--sweep random:{}: the grid has only {} runs; valid: --sweep grid", runs,
                grid_size(sweep.keys));
  const std::vector<std::string> names = names_in(sweep.keys);
  Picker picker(sweep.picks->seed);
  std::vector<SweepRun> all;
  std::set<std::vector<std::string>> seen;
  for (int repeated = 0; static_cast<int64_t>(all.size()) < runs;) {
    RunOfSweep run(sweep, names);
    for (size_t k = 0; k < sweep.keys.size(); ++k) {
      const SweepKey& key = sweep.keys[k];
      const size_t at = key.range ? all.size() : picker.index(key.values.size());
      run.add(k, key, key.range ? picker.number(*key.range) : key.values[at], at);
    }
    SweepRun done = std::move(run).done();
    if (seen.insert(done.sets).second) {
      all.push_back(std::move(done));
      repeated = 0;
    } else if (++repeated > kMaxRepeatedPicks) {
      return fail(
          "--sweep random:{}: only {} different picks were found; valid: fewer, or --sweep grid",
          runs, all.size());
    }
  }
  return all;
}

}  // namespace

Result<Sweep> read_sweep(const std::vector<std::string>& sets, const std::string& how) {
  Sweep sweep;
  const auto random = read_how(how);
  if (!random) return fail(random);
  sweep.picks = *random;
  std::set<std::string> seen, varied;
  for (const std::string& set : sets) {
    const size_t equals = set.find('=');
    if (equals == 0 || equals == set.npos) {
      sweep.sets.push_back(set);  // the recipe's reader says what is wrong
      continue;
    }
    const std::string value = set.substr(equals + 1);
    Result<SweepKey> key = read_key(set.substr(0, equals), value);
    if (!key) return fail(key);
    const bool varies = key->range || key->values.size() > 1;
    if (varies) varied.insert(key->key);
    if (!seen.insert(key->key).second && varied.contains(key->key))
      return fail("--set: {}: it is set twice; valid: all values in one, as in {}=1,2", key->key,
                  key->key);
    if (varies)
      sweep.keys.push_back(std::move(*key));
    else
      sweep.sets.push_back(key->key + "=" + value);
  }
  if (sweep.keys.empty() && !how.empty())
    return fail(
        "--sweep {}: all runs would be the same; valid: a key with several values, as in "
        "--set optimizer.lr=1e-4,3e-4{}",
        how, sweep.picks ? ", or a range, as in --set optimizer.lr=log(1e-5..1e-3)" : "");
  return sweep;
}

Result<std::vector<SweepRun>> expand(const Sweep& sweep) {
  return sweep.picks ? picks(sweep) : grid(sweep);
}

}  // namespace heddle::workbench
