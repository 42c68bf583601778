// How much of the model a rank holds, and how much of it is gathered there; `layout`: the recipe's.
// Resolved recipes without faults. Results are by pipeline rank.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/holdings/parameter.h"
#include "engine/recipe/buckets.h"
#include "engine/recipe/layout.h"

namespace heddle::holdings {

/// Bytes of a tensor-parallel rank's part of a parameter as it is gathered: 8 bits a number where
/// products in 8 bits take it so, else as it is computed in.
int64_t gathered_bytes(const recipe::Recipe& recipe, const Parameter& parameter);

/// Elements of these parameters: a rank's tensor-parallel part, not sharded.
std::vector<int64_t> whole_elements(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                    const std::vector<recipe::Parameter>& parameters);

/// Their bytes as they are gathered.
std::vector<int64_t> whole_bytes(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                 const std::vector<recipe::Parameter>& parameters);

/// Elements of the parameters that a rank stores: its shards, with the zeros at their ends. All
/// ranks of a stage have equally many.
std::vector<int64_t> stored_elements(const recipe::Recipe& recipe, const recipe::Layout& layout);

/// Bytes that a rank's forward gathers of a bucket at a time: its tensor-parallel part of the
/// parameters. 0 where none of them are, and everywhere if nothing is sharded.
std::vector<int64_t> gathered_bytes(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                    const recipe::Bucket& bucket);

}  // namespace heddle::holdings
