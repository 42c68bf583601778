#include "engine/recipe/rank_share.h"

#include <functional>
#include <numeric>

#include "engine/recipe/float8.h"

namespace heddle::recipe {
namespace {

int64_t product(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// The pipeline rank of each parameter, with what a rank has of it.
template <typename Add>
void for_each_part(const Recipe& recipe, const Layout& layout,
                   const std::vector<Parameter>& parameters, const Add& add) {
  for (const Parameter& parameter : parameters)
    add(static_cast<size_t>(layout.stage_of(parameter.module) % recipe.parallelism.pp),
        layout.part_of(parameter.name(), parameter.shape));
}

}  // namespace

int64_t bytes_of(Precision precision) { return precision == Precision::bf16 ? 2 : 4; }

std::vector<int64_t> whole_elements(const Recipe& recipe, const Layout& layout,
                                    const std::vector<Parameter>& parameters) {
  std::vector<int64_t> elements(static_cast<size_t>(recipe.parallelism.pp), 0);
  for_each_part(recipe, layout, parameters,
                [&](size_t rank, const Part& part) { elements[rank] += product(part.local); });
  return elements;
}

std::vector<int64_t> whole_bytes(const Recipe& recipe, const Layout& layout,
                                 const std::vector<Parameter>& parameters) {
  const bool sharded = layout.mesh().size(kSharing) > 1;
  const Float8Layers float8(recipe.precision, recipe.model.tied_embeddings);
  std::vector<int64_t> bytes(static_cast<size_t>(recipe.parallelism.pp), 0);
  for (const Parameter& parameter : parameters) {
    const bool small = sharded && float8.gathers(parameter.module, parameter.shape.size());
    const int64_t width = small ? 1 : bytes_of(recipe.precision.param);
    for_each_part(recipe, layout, {parameter}, [&](size_t rank, const Part& part) {
      bytes[rank] += width * product(part.local);
    });
  }
  return bytes;
}

std::vector<int64_t> stored_elements(const Recipe& recipe, const Layout& layout) {
  const int64_t pp = recipe.parallelism.pp;
  std::vector<int64_t> elements(static_cast<size_t>(pp), 0);
  // Tied embeddings are at both ends of a pipeline.
  for_each_part(recipe, layout, pp > 1 ? reads(recipe.model) : parameters(recipe.model),
                [&](size_t rank, const Part& part) { elements[rank] += product(part.shard); });
  return elements;
}

std::vector<int64_t> gathered_bytes(const Recipe& recipe, const Layout& layout,
                                    const Bucket& bucket) {
  if (layout.mesh().size(kSharing) == 1)
    return std::vector<int64_t>(static_cast<size_t>(recipe.parallelism.pp), 0);
  return whole_bytes(recipe, layout, bucket.parameters);
}

}  // namespace heddle::recipe
