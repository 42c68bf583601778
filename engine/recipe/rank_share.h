// How much of the model a rank holds, and how much of it is gathered there; `layout`: the recipe's.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/recipe/buckets.h"
#include "engine/recipe/layout.h"

namespace heddle::recipe {

/// Bytes of a number.
int64_t bytes_of(Precision precision);

/// Elements of these parameters, by pipeline rank: of a rank's tensor-parallel part, not sharded.
std::vector<int64_t> whole_elements(const Recipe& recipe, const Layout& layout,
                                    const std::vector<Parameter>& parameters);

/// Their bytes as they are gathered: 8 bits a number where products in 8 bits take them so, else as
/// they are computed in.
std::vector<int64_t> whole_bytes(const Recipe& recipe, const Layout& layout,
                                 const std::vector<Parameter>& parameters);

/// Elements of the parameters that a rank stores, by pipeline rank: its shards, with the zeros at
/// their ends. Of a resolved recipe without faults; all ranks of a stage have equally many.
std::vector<int64_t> stored_elements(const Recipe& recipe, const Layout& layout);

/// Bytes that a rank's forward gathers of a bucket at a time, by pipeline rank: its
/// tensor-parallel part of the parameters. 0 where none of them are, and
/// everywhere if nothing is sharded. Of a resolved recipe without faults.
std::vector<int64_t> gathered_bytes(const Recipe& recipe, const Layout& layout,
                                    const Bucket& bucket);

}  // namespace heddle::recipe
