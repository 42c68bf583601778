// The text form of a graph: reads well, can be edited and parsed back.
//
//   heddle graph 1
//   note after = capture
//   note data.seq_len = 128
//   group dp_shard = 2
//   micro_batches = 1
//   input  %0: i64[2, 128] tokens
//   state  %4: f32[128, 256] layers.0.attention.wq
//   forward
//     %9: f32[256, 256] = heddle.all_gather([%4], rows=[256], group="dp_shard")
//     @layers.0.attention.wq %10: f32[256, 256] = heddle.wait([%9])  @layers.0.attention.wq
//   backward
//     …
//   optimizer
//     heddle.adamw_([%4 -> %90], [%5 -> %91], [%6 -> %92], [%80], %1, %2, %85, beta1=0.9, …)
//   output %88: f32[] loss
//   end
//
// Tensor arguments come in the order of the operator's schema (`none` for an absent one), the
// others by name; arguments at their default are left out. `%4 -> %90`: the node writes %4, whose
// contents are called %90 from there on. What a node marked `next_step` makes is read above it as
// well, by the step after. Strides are not written: they follow from the operators.
// `#` begins a comment. The notes say what the step was made from (train/graph_file.h).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/graph/ir.h"

namespace heddle::graph {

std::string to_text(const Graph& graph);

/// Parses the text form. Errors begin with `FILE:LINE:`. Checks that every value is defined before
/// it is read, that operators exist, that arguments fit their schema and that results are what the
/// operators make of them.
Result<Graph> parse_text(std::string_view text, const std::string& file);

/// "f32[128, 256]".
std::string type_text(const Value& value);

/// "f32", "bf16", "i64", …; and back (nullopt for an unknown name).
const char* dtype_name(c10::ScalarType dtype);
std::optional<c10::ScalarType> dtype_of(std::string_view name);

}  // namespace heddle::graph
