#include "gui/models/inherited_curves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "gui/format.h"

namespace heddle::gui {
namespace {

constexpr size_t kMaxGenerations = 64;

/// A stretch of the line of descent: a run, and its steps that count.
struct Stretch {
  storage::RunDetail run;
  storage::StepRange steps;
};

/// The parents of a resumed run, the oldest first.
Result<std::vector<Stretch>> readParents(storage::Reader& reader, const storage::RunSummary& run) {
  std::vector<Stretch> parents;
  std::optional<storage::Lineage> from = run.lineage;
  while (from && from->kind == storage::Lineage::Kind::resume && from->parent != 0 &&
         parents.size() < kMaxGenerations) {
    auto parent = reader.run(from->parent);
    if (!parent) break;  // removed meanwhile
    const int64_t last = from->step;
    from = parent->summary.lineage;
    parents.push_back({std::move(*parent), {from ? from->step + 1 : 0, last}});
  }
  std::ranges::reverse(parents);
  return parents;
}

enum class Join { first, mean, most };

Result<> append(storage::Reader& reader, const Stretch& of, const std::string& metric, Join join,
                size_t points, Series& curve) {
  struct Joined {
    double value = 0;
    int ranks = 0;
  };
  std::map<double, Joined> all;
  for (const int32_t rank : of.run.ranks) {
    auto series = readCurve(reader, of.run.summary.id, metric, rank, of.steps, points);
    if (!series) return fail(series);
    for (size_t i = 0; i < series->size(); ++i) {
      Joined& at = all[series->x()[i]];
      const double value = series->y()[i];
      at.value = at.ranks == 0        ? value
                 : join == Join::most ? std::max(at.value, value)
                                      : at.value + value;
      ++at.ranks;
    }
    if (join == Join::first && !all.empty()) break;
  }
  for (const auto& [step, joined] : all)
    curve.append(step, join == Join::mean ? joined.value / joined.ranks : joined.value);
  return {};
}

}  // namespace

Result<Series> readCurve(storage::Reader& reader, storage::RunId run, const std::string& metric,
                         int32_t rank, storage::StepRange range, size_t points) {
  const auto bins = reader.series(run, metric, rank, range, points);
  if (!bins) return fail(bins);
  Series series;
  for (const storage::Bin& bin : *bins) {
    if (bin.first_step > range.last) break;
    // A bin may reach beyond the range.
    const auto first = static_cast<double>(bin.first_step);
    const auto last = static_cast<double>(std::min(bin.last_step, range.last));
    const bool mixed = bin.nonfinite > 0 && bin.nonfinite < bin.count;
    if (mixed) series.append(first, std::isfinite(bin.last) ? NAN : bin.mean);
    series.append(last,
                  bin.nonfinite == 0 || (mixed && std::isfinite(bin.last)) ? bin.mean : bin.last);
  }
  return series;
}

Result<std::optional<InheritedCurves>> readInheritedCurves(storage::Reader& reader,
                                                           const storage::RunSummary& run,
                                                           size_t points) {
  const auto parents = readParents(reader, run);
  if (!parents) return fail(parents);
  if (parents->empty()) return std::nullopt;
  InheritedCurves curves;
  curves.name = format::shortName(parents->back().run.summary.name);
  for (const Stretch& each : *parents) {
    for (const auto& [metric, join, curve] :
         {std::tuple("loss", Join::first, &curves.loss),
          std::tuple("tokens_per_second", Join::mean, &curves.rate),
          std::tuple("resident_bytes", Join::most, &curves.bytes)})
      if (const Result<> added = append(reader, each, metric, join, points, *curve); !added)
        return fail(added);
  }
  return curves;
}

}  // namespace heddle::gui
