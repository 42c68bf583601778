// Memory over a step as JSON or CBOR: a column for its times and one for each category. Records and
// plan documents both hold it so.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/telemetry/memory_bytes.h"

namespace heddle::telemetry {

/// Json: nlohmann::json or nlohmann::ordered_json.
template <typename Json>
Json memory_table(const std::vector<MemoryMoment>& moments);

/// The moments of such a table. Throws nlohmann::json::exception for anything else, and where times
/// do not ascend.
std::vector<MemoryMoment> memory_from(const nlohmann::json& table);

/// Bytes of which sums and differences can be made. Throws nlohmann::json::exception.
int64_t bytes_from(const nlohmann::json& value);

}  // namespace heddle::telemetry
