#include "gui/models/inherited_curves.h"

#include <algorithm>
#include <cmath>

#include "gui/format.h"

namespace heddle::gui {
namespace {

constexpr size_t kMaxGenerations = 64;

}  // namespace

Result<std::vector<Ancestor>> readAncestors(storage::Reader& reader,
                                            const storage::RunSummary& run) {
  std::vector<Ancestor> ancestors;
  std::optional<storage::Lineage> from = run.lineage;
  while (from && from->kind == storage::Lineage::Kind::resume && from->parent != 0 &&
         ancestors.size() < kMaxGenerations) {
    const auto parent = reader.run(from->parent);
    if (!parent) break;  // removed meanwhile
    const int64_t last = from->step;
    from = parent->summary.lineage;
    ancestors.push_back({parent->summary.id,
                         format::shortName(parent->summary.name),
                         parent->ranks,
                         {from ? from->step + 1 : 0, last}});
  }
  std::ranges::reverse(ancestors);
  return ancestors;
}

Result<Series> readInheritedLoss(storage::Reader& reader, const storage::RunSummary& run,
                                 size_t points) {
  const auto ancestors = readAncestors(reader, run);
  if (!ancestors) return fail(ancestors);
  Series loss;
  for (const Ancestor& each : *ancestors) {
    Series own;
    for (size_t i = 0; i < each.ranks.size() && own.empty(); ++i) {
      auto read = readCurve(reader, each.run, "loss", each.ranks[i], each.steps, points);
      if (!read) return fail(read);
      own = std::move(*read);
    }
    for (size_t i = 0; i < own.size(); ++i) loss.append(own.x()[i], own.y()[i]);
  }
  return loss;
}

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

}  // namespace heddle::gui
