// A step record's CBOR payload, written directly: the bytes that nlohmann's to_cbor makes of
// {"step": …, "time": …, "values": {…}}, without building that. Begin, then add the values by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::telemetry {

/// Replaces `bytes`; `values`: how many will be added.
void begin_step(std::string& bytes, int64_t step, double time, size_t values);

/// A metric's name as it is in the payload: once for many steps.
std::string name_in_step(std::string_view name);

/// Names ascend.
void add_to_step(std::string& bytes, std::string_view name_in_step, double value);

}  // namespace heddle::telemetry
