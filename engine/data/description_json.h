// A description as JSON, both ways: what `describe-data --json` prints and the workbench reads.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/data/description.h"

namespace heddle::data {

nlohmann::ordered_json to_json(const Description& description);
/// Throws nlohmann::json::exception for what is none.
Description description_from(const nlohmann::json& json);

}  // namespace heddle::data
