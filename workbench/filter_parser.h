// From a filter's text to its conditions: see run_filter.h for the language.
#pragma once

#include <tl/expected.hpp>

#include "workbench/run_filter.h"

namespace heddle::workbench {

/// The whole text's conditions, or the first place that is not understood.
tl::expected<FilterNode, FilterProblem> parse_filter(std::string_view text, double now);

/// A sign or word of comparison: "<", "is not". None: it is none.
std::optional<FilterTest::How> filter_sign(std::string_view sign);

}  // namespace heddle::workbench
