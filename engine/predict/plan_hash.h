// By which two plans are known to be the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/ir.h"

namespace heddle::predict {

/// A rank's planned graph as text, without its notes: what ranks of a stage must share. The graph
/// is as it was afterwards.
std::string plan_text(graph::Graph& planned);

/// XXH3-128 of such a text: 32 hexadecimal digits.
std::string plan_hash(std::string_view text);

/// The hash of all pipeline stages together, in their order; a single stage's is its own.
std::string joined_hash(const std::vector<std::string>& of_stages);

}  // namespace heddle::predict
