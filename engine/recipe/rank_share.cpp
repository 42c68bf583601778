#include "engine/recipe/rank_share.h"

#include <functional>
#include <numeric>

#include "engine/recipe/layout.h"
#include "engine/recipe/stages.h"

namespace heddle::recipe {
namespace {

int64_t product(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// The pipeline rank of each parameter, with the sizes of what a tensor-parallel rank has of it.
template <typename Add>
void for_each_part(const Recipe& recipe, const std::vector<Parameter>& parameters, const Add& add) {
  const Parallelism& p = recipe.parallelism;
  const std::vector<int64_t> layers = layers_of_stages(recipe);
  for (const Parameter& parameter : parameters)
    add(static_cast<size_t>(stage_of(parameter.module, layers) % p.pp),
        local_shape(parameter.shape, cut_of(parameter.name()), p.tp));
}

}  // namespace

int64_t bytes_of(Precision precision) { return precision == Precision::bf16 ? 2 : 4; }

std::vector<int64_t> whole_elements(const Recipe& recipe,
                                    const std::vector<Parameter>& parameters) {
  std::vector<int64_t> elements(static_cast<size_t>(recipe.parallelism.pp), 0);
  for_each_part(recipe, parameters, [&](size_t rank, const std::vector<int64_t>& sizes) {
    elements[rank] += product(sizes);
  });
  return elements;
}

std::vector<int64_t> stored_elements(const Recipe& recipe) {
  const Parallelism& p = recipe.parallelism;
  const int64_t shards = Mesh(p).size(kSharing);
  std::vector<int64_t> elements(static_cast<size_t>(p.pp), 0);
  // Tied embeddings are at both ends of a pipeline.
  for_each_part(recipe, p.pp > 1 ? reads(recipe.model) : parameters(recipe.model),
                [&](size_t rank, std::vector<int64_t> sizes) {
                  sizes[0] = shard_rows(sizes[0], shards);
                  elements[rank] += product(sizes);
                });
  return elements;
}

std::vector<int64_t> gathered_bytes(const Recipe& recipe, const Bucket& bucket) {
  const bool sharded = Mesh(recipe.parallelism).size(kSharing) > 1;
  const int64_t width = bytes_of(recipe.precision.param);
  std::vector<int64_t> bytes = whole_elements(recipe, bucket.parameters);
  for (int64_t& each : bytes) each *= sharded ? width : 0;
  return bytes;
}

}  // namespace heddle::recipe
