#include "gui/models/inherited_curves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "engine/telemetry/metrics.h"
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

Result<> append(storage::Reader& reader, const Stretch& of, const telemetry::Metric& metric,
                size_t points, Series& curve) {
  std::map<double, telemetry::RankFold> all;
  for (const int32_t rank : of.run.ranks) {
    auto series =
        readCurve(reader, of.run.summary.id, std::string(metric.name), rank, of.steps, points);
    if (!series) return fail(series);
    for (size_t i = 0; i < series->size(); ++i)
      all.try_emplace(series->x()[i], metric).first->second.add(rank, series->y()[i]);
    if (metric.over_ranks == telemetry::Fold::first && !all.empty()) break;
  }
  for (const auto& [step, values] : all) curve.append(step, values.value());
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
    for (const auto& [name, curve] : {std::pair("loss", &curves.loss),
                                      {"tokens_per_second", &curves.rate},
                                      {"resident_bytes", &curves.bytes}})
      if (const Result<> added = append(reader, each, telemetry::metric(name), points, *curve);
          !added)
        return fail(added);
  }
  return curves;
}

}  // namespace heddle::gui
