// Values of recipes, environments and results as people read them, in the window and the shell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/run.h"

namespace heddle::storage {

/// A number with its metric's unit, so that "peak_bytes" is 61.2 GiB; words without the quotes of
/// TOML, their numbers with at most nine digits. `more`: see base/number_text.h.
std::string value_text(const std::string& name, const Value& value, int more = 0);

/// The values of one key in several runs, to be shown side by side; `none` for nullopt. All of them
/// have enough digits that different values look different.
std::vector<std::string> value_texts(const std::string& name,
                                     const std::vector<std::optional<Value>>& values,
                                     const std::string& none);

}  // namespace heddle::storage
