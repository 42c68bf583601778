#include "engine/recipe/stages.h"

namespace heddle::recipe {
namespace {

// As even as can be, the embedding counting as a layer of the first stage and the output of the
// last; the stages that get one more are those in the middle. Every stage has a layer at least.
std::vector<int64_t> balanced(int64_t layers, int64_t stages) {
  std::vector<int64_t> counts(static_cast<size_t>(stages), 0);
  const int64_t units = layers + 2, least = units / stages, more = units % stages;
  for (int64_t i = 0; i < stages; ++i) counts[i] = least;
  const int64_t first = (stages - more) / 2;
  for (int64_t i = first; i < first + more; ++i) ++counts[i];
  --counts.front();
  --counts.back();
  for (int64_t i : {int64_t{0}, stages - 1}) {
    if (counts[i] > 0) continue;
    auto most = counts.begin();
    for (auto each = counts.begin(); each != counts.end(); ++each)
      if (*each > *most) most = each;
    --*most;
    ++counts[i];
  }
  return counts;
}

}  // namespace

std::vector<int64_t> layers_of_stages(const Recipe& recipe) {
  const Parallelism& p = recipe.parallelism;
  if (!p.stage_layers.empty()) return p.stage_layers;
  if (p.pp == 1) return {recipe.model.n_layers};
  const bool two =
      p.pp_schedule == PipelineSchedule::interleaved && recipe.model.n_layers >= 2 * p.pp;
  return balanced(recipe.model.n_layers, two ? 2 * p.pp : p.pp);
}

}  // namespace heddle::recipe
