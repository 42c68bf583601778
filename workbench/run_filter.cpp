#include "workbench/run_filter.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ctime>
#include <limits>

#include "storage/difference.h"
#include "workbench/filter_parser.h"

namespace heddle::workbench {
namespace {

using How = FilterTest::How;
using Join = FilterNode::Join;

std::string lowered(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

bool holds_word(std::string_view text, std::string_view word) {
  return lowered(text).find(lowered(word)) != std::string::npos;
}

/// `pattern`: * is any text, ? any one letter.
bool is_like(std::string_view text, std::string_view pattern) {
  size_t at = 0, of = 0;
  size_t star = std::string_view::npos, from = 0;
  while (at < text.size()) {
    if (of < pattern.size() && (pattern[of] == '?' || pattern[of] == text[at])) {
      ++at, ++of;
    } else if (of < pattern.size() && pattern[of] == '*') {
      star = of++, from = at;
    } else if (star != std::string_view::npos) {
      of = star + 1, at = ++from;
    } else {
      return false;
    }
  }
  while (of < pattern.size() && pattern[of] == '*') ++of;
  return of == pattern.size();
}

bool holds_in_order(How how, bool equal, bool less) {
  switch (how) {
    case How::differs:
      return !equal;
    case How::less:
      return less && !equal;
    case How::less_equal:
      return less || equal;
    case How::greater:
      return !less && !equal;
    case How::greater_equal:
      return !less || equal;
    default:
      return equal;
  }
}

/// The furthest number in that direction that the table writes like `number`.
double end_of_text(KeyKind kind, double number, double direction) {
  const std::string text = number_text(kind, number);
  double step = std::max(std::abs(number) * 1e-16, std::numeric_limits<double>::min());
  double inside = number, outside = number + direction * step;
  while (std::isfinite(outside) && number_text(kind, outside) == text) {
    inside = outside;
    step *= 16;
    outside = number + direction * step;
  }
  for (int halving = 0; halving < 64 && std::isfinite(outside); ++halving) {
    const double middle = inside + (outside - inside) / 2;
    if (middle == inside || middle == outside) break;
    (number_text(kind, middle) == text ? inside : outside) = middle;
  }
  return inside;
}

bool holds_number(const FilterTest& test, double found) {
  const double wanted = *test.value.number;
  // NaN is equal to NaN alone, and neither more nor less than anything.
  if (std::isnan(found) || std::isnan(wanted)) {
    const bool both = std::isnan(found) && std::isnan(wanted);
    return test.how == How::differs ? !both : both;
  }
  const bool equal = found == wanted || (test.least <= found && found <= test.most);
  return holds_in_order(test.how, equal, found < wanted);
}

bool holds_text(How how, std::string_view text, std::string_view wanted) {
  switch (how) {
    case How::contains:
      return holds_word(text, wanted);
    case How::like:
    case How::unlike:
      return is_like(lowered(text), lowered(wanted));
    default:
      return lowered(text) == lowered(wanted);
  }
}

/// A list has one word a line.
bool holds_list(const FilterTest& test, const std::string& lines) {
  const bool denies = test.how == How::differs || test.how == How::unlike;
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    if (holds_text(test.how, std::string_view(lines).substr(begin, end - begin), test.value.text))
      return !denies;
    begin = end + 1;
  }
  return denies;
}

bool holds(const FilterTest& test, const storage::Value& value) {
  const KeyKind kind = test.kind;
  if (kind == KeyKind::list) return holds_list(test, std::get<std::string>(value));
  if (kind == KeyKind::date) {
    const double* time = std::get_if<double>(&value);
    if (!time || !test.value.from) return false;
    if (test.value.moment && test.how >= How::less)
      return holds_in_order(test.how, *time == *test.value.until, *time < *test.value.until);
    const bool equal = *time >= *test.value.from && *time < *test.value.until;
    return holds_in_order(test.how, equal, *time < *test.value.from);
  }
  const bool texts = test.how == How::like || test.how == How::unlike;
  const auto found = texts ? std::nullopt : storage::number_of(value);
  if (test.how == How::contains && test.value.number && found && holds_number(test, *found))
    return true;
  if (test.how != How::contains && test.value.number && found) return holds_number(test, *found);
  if (test.how >= How::less) return false;  // words have no order here
  const bool fits = holds_text(test.how, words_in(kind, value), test.value.text);
  return fits != (test.how == How::differs || test.how == How::unlike);
}

template <typename Node, typename Do>
void for_each_test(Node& node, const Do& act) {
  if (node.join == Join::test) act(node.test);
  for (auto& part : node.parts) for_each_test(part, act);
}

template <typename Holds>
bool holds_node(const FilterNode& node, const Holds& test) {
  const auto part_holds = [&](const FilterNode& part) { return holds_node(part, test); };
  switch (node.join) {
    case Join::test:
      return test(node.test);
    case Join::all:
      return std::ranges::all_of(node.parts, part_holds);
    case Join::any:
      return std::ranges::any_of(node.parts, part_holds);
    case Join::none:
      return std::ranges::none_of(node.parts, part_holds);
  }
  return false;
}

}  // namespace

RunFilter::RunFilter(std::string_view text, double now) {
  auto parsed = parse_filter(text, now);
  if (parsed)
    root_ = std::move(*parsed);
  else
    problem_ = std::move(parsed.error());
  // Once, not for each run.
  for_each_test(root_, [](FilterTest& test) {
    test.kind = kind_of(test.key);
    const auto& number = test.value.number;
    if (!number || !std::isfinite(*number)) return;
    test.least = end_of_text(test.kind, *number, -1);
    test.most = end_of_text(test.kind, *number, 1);
  });
}

void RunFilter::refuse(const std::string& key, const std::string& why) {
  for_each_test(root_, [&](const FilterTest& test) {
    if (!problem_ && test.key == key) problem_ = FilterProblem{test.at, test.length, why};
  });
}

std::vector<std::string> RunFilter::keys() const {
  std::vector<std::string> keys;
  for_each_test(root_, [&](const FilterTest& test) {
    if (!test.key.empty() && std::ranges::find(keys, test.key) == keys.end())
      keys.push_back(test.key);
  });
  return keys;
}

std::vector<std::string> RunFilter::readings() const {
  std::vector<std::string> readings;
  for_each_test(root_, [&](const FilterTest& test) {
    if (!test.value.moment || test.how < How::less) return;
    const bool before = test.how == How::less || test.how == How::less_equal;
    const auto seconds = static_cast<std::time_t>(*test.value.until);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    readings.push_back(fmt::format("{} {} {}: {} {:%Y-%m-%d %H:%M}", test.key, before ? "<" : ">",
                                   test.value.text, before ? "before" : "after", parts));
  });
  return readings;
}

bool RunFilter::matches(const Words& words, const Lookup& lookup) const {
  if (problem_) return false;
  return holds_node(root_, [&](const FilterTest& test) {
    if (test.how == How::word) return holds_word(words(), test.value.text);
    const auto value = lookup(test.key);
    return value && holds(test, *value);
  });
}

}  // namespace heddle::workbench
