#include "engine/telemetry/memory_table.h"

#include <fmt/format.h>

#include <string>

#include "engine/telemetry/span_table.h"

namespace heddle::telemetry {

template <typename Json>
Json memory_table(const std::vector<MemoryMoment>& moments) {
  Json table;
  std::vector<int64_t> column;
  const auto put = [&](const char* name, const auto& value) {
    column.clear();
    for (const MemoryMoment& moment : moments) column.push_back(value(moment));
    table[name] = column;
  };
  put("time", [](const MemoryMoment& moment) { return moment.time_us; });
  for (size_t c = 0; c < kCategories; ++c)
    put(kCategoryNames[c], [c](const MemoryMoment& moment) { return moment.bytes.bytes[c]; });
  return table;
}

template nlohmann::json memory_table(const std::vector<MemoryMoment>&);
template nlohmann::ordered_json memory_table(const std::vector<MemoryMoment>&);

int64_t bytes_from(const nlohmann::json& value) {
  constexpr int64_t kMax = int64_t{1} << 56;
  const auto bytes = whole<int64_t>(value);
  if (bytes < -kMax || bytes > kMax) refuse_json(value, fmt::format("{} bytes cannot be", bytes));
  return bytes;
}

std::vector<MemoryMoment> memory_from(const nlohmann::json& table) {
  const size_t count = table.at("time").size();
  std::vector<MemoryMoment> moments;
  moments.reserve(count);
  for (const int64_t time : column_from<int64_t>(table, "time", count)) {
    if (!has_sound_times({.name = {}, .start_us = time}))
      refuse_json(table, fmt::format("memory at {} us cannot be", time));
    if (!moments.empty() && time < moments.back().time_us)
      refuse_json(table, "the times of memory do not ascend");
    moments.push_back({time, {}});
  }
  for (size_t c = 0; c < kCategories; ++c) {
    const nlohmann::json& column = table.at(kCategoryNames[c]);
    if (column.size() != count)
      refuse_json(table, fmt::format("{}: not as long as the times", kCategoryNames[c]));
    for (size_t i = 0; i < count; ++i) moments[i].bytes.bytes[c] = bytes_from(column.at(i));
  }
  return moments;
}

}  // namespace heddle::telemetry
