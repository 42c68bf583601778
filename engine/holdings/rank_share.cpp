#include "engine/holdings/rank_share.h"

#include "engine/holdings/parameters.h"
#include "engine/holdings/state.h"
#include "engine/recipe/precision.h"

namespace heddle::holdings {
namespace {

/// The sum of a number of each row, by pipeline rank.
template <typename Number>
std::vector<int64_t> sums_by_rank(const recipe::Recipe& recipe, const std::vector<Parameter>& rows,
                                  const Number& number) {
  std::vector<int64_t> sums(static_cast<size_t>(recipe.parallelism.pp), 0);
  for (const Parameter& row : rows)
    sums[static_cast<size_t>(row.stage % recipe.parallelism.pp)] += number(row);
  return sums;
}

}  // namespace

int64_t gathered_bytes(const recipe::Recipe& recipe, const Parameter& parameter) {
  const int64_t width = parameter.eight_bits ? 1 : recipe::bytes_of(recipe.precision.param);
  return width * elements_of(parameter.local);
}

std::vector<int64_t> whole_elements(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                    const std::vector<recipe::Parameter>& parameters) {
  return sums_by_rank(recipe, parameters_of(recipe, layout, parameters),
                      [](const Parameter& row) { return elements_of(row.local); });
}

std::vector<int64_t> whole_bytes(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                 const std::vector<recipe::Parameter>& parameters) {
  return sums_by_rank(recipe, parameters_of(recipe, layout, parameters),
                      [&](const Parameter& row) { return gathered_bytes(recipe, row); });
}

std::vector<int64_t> stored_elements(const recipe::Recipe& recipe, const recipe::Layout& layout) {
  return sums_by_rank(recipe, parameters_of(recipe, layout),
                      [](const Parameter& row) { return elements_of(row.shard); });
}

std::vector<int64_t> gathered_bytes(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                    const recipe::Bucket& bucket) {
  if (layout.mesh().size(recipe::kSharing) == 1)
    return std::vector<int64_t>(static_cast<size_t>(recipe.parallelism.pp), 0);
  return whole_bytes(recipe, layout, bucket.parameters);
}

}  // namespace heddle::holdings
