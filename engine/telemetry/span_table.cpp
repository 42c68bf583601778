#include "engine/telemetry/span_table.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>

namespace heddle::telemetry {

template <typename Json>
void put_spans(Json& object, const std::vector<Span>& spans) {
  std::vector<std::string> strings;
  std::unordered_map<std::string_view, size_t> numbers;
  const auto number = [&](const std::string& text) {
    const auto [known, added] = numbers.try_emplace(text, strings.size());
    if (added) strings.push_back(text);
    return known->second;
  };
  std::vector<size_t> names, modules;
  std::vector<int64_t> starts, durations, nodes;
  std::vector<unsigned> streams, phases;
  for (const Span& span : spans) {
    names.push_back(number(span.name));
    modules.push_back(number(span.module));
    starts.push_back(span.start_us);
    durations.push_back(span.duration_us);
    streams.push_back(span.stream);
    phases.push_back(span.phase);
    nodes.push_back(span.node);
  }
  object["strings"] = std::move(strings);
  object["name"] = std::move(names);
  object["module"] = std::move(modules);
  object["start"] = std::move(starts);
  object["duration"] = std::move(durations);
  object["stream"] = std::move(streams);
  object["phase"] = std::move(phases);
  object["node"] = std::move(nodes);
}

template void put_spans(nlohmann::json&, const std::vector<Span>&);
template void put_spans(nlohmann::ordered_json&, const std::vector<Span>&);

std::vector<Span> spans_from(const nlohmann::json& object, size_t most_text, size_t& text) {
  const size_t count = object.at("name").size();
  const auto names = column_from<size_t>(object, "name", count),
             modules = column_from<size_t>(object, "module", count);
  const auto starts = column_from<int64_t>(object, "start", count),
             durations = column_from<int64_t>(object, "duration", count);
  const auto streams = column_from<uint8_t>(object, "stream", count),
             phases = column_from<uint8_t>(object, "phase", count);
  // The first logs knew no nodes.
  const auto nodes = object.contains("node") ? column_from<int32_t>(object, "node", count)
                                             : std::vector<int32_t>(count, -1);
  const auto strings = object.at("strings").get<std::vector<std::string>>();
  for (size_t i = 0; i < count; ++i) {
    if (names[i] >= strings.size() || modules[i] >= strings.size())
      refuse_json(object, fmt::format("span {} has a name that is not there", i));
    text += strings[names[i]].size() + strings[modules[i]].size();
    if (text > most_text) refuse_json(object, fmt::format("over {} bytes of names", most_text));
  }
  std::vector<Span> spans;
  spans.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    spans.push_back({strings[names[i]], strings[modules[i]], starts[i], durations[i], streams[i],
                     phases[i], nodes[i]});
    if (!has_sound_times(spans.back())) refuse_json(object, fmt::format("span {}: its times", i));
  }
  return spans;
}

}  // namespace heddle::telemetry
