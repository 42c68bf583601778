// Sums (or maxima) over ranks, in rank order, element by element: no result depends on how ranges
// are cut into collectives or chunks.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>

#include "engine/transport/operation.h"

namespace heddle::transport {

/// Whether elements of a type can be summed: fp32, fp64, bf16 (in fp32, rounded once), int64.
bool can_reduce(c10::ScalarType dtype);

/// out[i] = rows[0][i] ⊕ rows[1][i] ⊕ …, `bytes` of each. `out` may be one of the rows.
void reduce_rows(Reduction reduction, c10::ScalarType dtype, std::byte* out,
                 const std::byte* const* rows, int count, size_t bytes);

}  // namespace heddle::transport
