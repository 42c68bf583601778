#include "workbench/step_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace heddle::workbench {
namespace {

using telemetry::Span;

constexpr std::array kPhases = {"forward", "backward", "optimizer"};

const char* phase_of(const Span& span) { return kPhases[std::min<size_t>(span.phase, 2)]; }

/// "layers.3" of "layers.3.attention.wq"; other modules as they are.
std::string_view layer_of(std::string_view module) {
  const size_t dot = module.find('.');
  if (dot == std::string_view::npos) return module;
  const size_t end = module.find_first_not_of("0123456789", dot + 1);
  return end == dot + 1 ? module : module.substr(0, end);
}

bool is_by_layers(const Side& side) {
  return std::any_of(side.spans.begin(), side.spans.end(), [](const Span& span) {
    return span.stream == telemetry::kCompute && span.node < 0;
  });
}

using RowsByName = std::map<std::string, Row>;

/// One side's time, put down to the rows of every grouping.
void add(Alignment& alignment, size_t side, const Side& of,
         std::array<RowsByName, kGroupings.size()>& rows) {
  const auto spent = [side](auto& sides) -> Spent& { return side == 0 ? sides.left : sides.right; };
  const std::vector<Stretch> stretches = stretches_of(of.spans, of.step_us);
  int64_t first = of.step_us, last = 0;
  for (const Stretch& each : stretches) {
    spent(alignment)[each.part] += each.end - each.begin;
    if (each.span < 0) continue;
    first = std::min(first, each.begin);
    last = each.end;
  }
  for (size_t grouping = 0; grouping < kGroupings.size(); ++grouping) {
    RowsByName& by_name = rows[grouping];
    std::vector<Row*> row_of;
    row_of.reserve(of.spans.size());
    for (const Span& span : of.spans) {
      Row& row = by_name[alignment.names->of(side, span, kGroupings[grouping])];
      ++(side == 0 ? row.left_spans : row.right_spans);
      row_of.push_back(&row);
    }
    for (const Stretch& each : stretches) {
      const bool outside = each.end <= first || each.begin >= last;
      Row& row = each.span >= 0 ? *row_of[static_cast<size_t>(each.span)]
                                : by_name[outside ? kOutside : kBetween];
      spent(row)[each.part] += each.end - each.begin;
    }
  }
}

}  // namespace

RowNames::RowNames(const Side& left, const Side& right)
    : by_layers_(is_by_layers(left) || is_by_layers(right)),
      buckets_{BucketNames(left.buckets), BucketNames(right.buckets)} {
  const bool one_plan =
      !left.plan_hash.empty() && left.plan_hash == right.plan_hash && left.stage == right.stage;
  number(0, one_plan ? std::vector{&left.spans, &right.spans} : std::vector{&left.spans});
  if (one_plan)
    numbers_[1] = numbers_[0];
  else
    number(1, {&right.spans});
}

void RowNames::number(size_t side, const std::vector<const std::vector<Span>*>& spans) {
  std::map<std::tuple<std::string_view, std::string_view, uint8_t>, std::set<int32_t>> nodes;
  for (const auto* list : spans)
    for (const Span& span : *list)
      if (span.node >= 0) nodes[{span.name, span.module, span.phase}].insert(span.node);
  for (const auto& [key, same] : nodes) {
    int next = same.size() > 1 ? 1 : 0;
    for (const int32_t node : same) numbers_[side][node] = next++;
  }
}

std::string RowNames::of(size_t side, const Span& span, Grouping grouping) const {
  switch (grouping) {
    case Grouping::bucket:
      return buckets_[side].of(span);
    case Grouping::phase:
      return phase_of(span);
    case Grouping::module:
      return module_of(span);
    case Grouping::node:
      return node_of(side, span);
  }
  return {};
}

std::string RowNames::module_of(const Span& span) const {
  if (span.module.empty()) return fmt::format("no module ({})", phase_of(span));
  return by_layers_ ? std::string(layer_of(span.module)) : span.module;
}

std::string RowNames::node_of(size_t side, const Span& span) const {
  if (by_layers_ && span.stream == telemetry::kCompute)
    return fmt::format("compute {} ({})", layer_of(span.module), phase_of(span));
  const auto number = numbers_[side].find(span.node);
  const bool several = number != numbers_[side].end() && number->second > 0;
  return fmt::format("{}{}{} ({}){}", span.name, span.module.empty() ? "" : " ", span.module,
                     phase_of(span), several ? fmt::format(" #{}", number->second) : "");
}

Alignment align(const Side& left, const Side& right) {
  Alignment alignment;
  alignment.names = std::make_shared<const RowNames>(left, right);
  std::array<RowsByName, kGroupings.size()> rows;
  add(alignment, 0, left, rows);
  add(alignment, 1, right, rows);
  for (size_t i = 0; i < kGroupings.size(); ++i) {
    for (auto& [name, row] : rows[i]) {
      row.name = name;
      alignment.rows[i].push_back(std::move(row));
    }
    std::stable_sort(alignment.rows[i].begin(), alignment.rows[i].end(),
                     [](const Row& a, const Row& b) {
                       return std::abs(a.difference()) > std::abs(b.difference());
                     });
  }
  return alignment;
}

std::vector<Row> with_others(const std::vector<Row>& rows, size_t most) {
  if (rows.size() <= most + 1) return rows;
  const auto rest = rows.begin() + static_cast<std::ptrdiff_t>(most);
  std::vector<Row> shown(rows.begin(), rest);
  Row others;
  others.name = fmt::format("{} others", rows.end() - rest);
  for (auto row = rest; row != rows.end(); ++row) {
    for (size_t i = 0; i < kParts; ++i) {
      others.left.us[i] += row->left.us[i];
      others.right.us[i] += row->right.us[i];
    }
    others.left_spans += row->left_spans;
    others.right_spans += row->right_spans;
  }
  shown.push_back(std::move(others));
  return shown;
}

}  // namespace heddle::workbench
