// Spans as JSON or CBOR: a column for each of their facts and each text once, since the same few
// operators and modules repeat thousands of times. Records and plan documents both hold them so.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "base/json_number.h"
#include "engine/telemetry/record.h"

namespace heddle::telemetry {

/// Adds the columns to an object. Json: nlohmann::json or nlohmann::ordered_json.
template <typename Json>
void put_spans(Json& object, const std::vector<Span>& spans);

/// The spans of such an object. Their names, repetitions included, add to `text`, which may reach
/// `most_text` bytes: a text that is in the table once may be the name of every span. Throws
/// nlohmann::json::exception for anything but such a table.
std::vector<Span> spans_from(const nlohmann::json& object, size_t most_text, size_t& text);

/// A column of whole numbers that must be `length` long. Throws nlohmann::json::exception.
template <std::integral T>
std::vector<T> column_from(const nlohmann::json& object, const char* key, size_t length) {
  const nlohmann::json& list = object.at(key);
  if (list.size() != length)
    refuse_json(object, fmt::format("{}: not as long as the other columns", key));
  std::vector<T> column;
  column.reserve(length);
  for (const nlohmann::json& value : list) column.push_back(whole<T>(value));
  return column;
}

}  // namespace heddle::telemetry
