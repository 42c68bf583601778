// Records to CBOR payloads and back. Short keys are not worth it: a step is about 300 bytes. Spans
// are columns with a table of names, since the same few operators and modules repeat thousands of
// times.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/json_number.h"
#include "base/read_json.h"
#include "engine/telemetry/frame.h"
#include "engine/telemetry/record.h"

namespace heddle::telemetry {
namespace {

using nlohmann::json;

/// What a payload may hold, by its type: many times what one of ours does.
Budget budget_of(Type type) {
  if (type == Type::spans) return {.bytes = kMaxPayloadBytes, .values = 8 * kMostSpans, .depth = 2};
  if (type == Type::plan) return {.bytes = kPlanDocument.bytes + 4096, .values = 64, .depth = 1};
  if (type == Type::step) return {.bytes = size_t{1} << 16, .values = 2048, .depth = 2};
  return {.bytes = size_t{1} << 20, .values = 8192, .depth = 2};
}

size_t spans_that_fit(const std::vector<Span>& spans) {
  size_t fit = 0;
  for (size_t text = 0; fit < std::min(spans.size(), kMostSpans); ++fit) {
    text += spans[fit].name.size() + spans[fit].module.size();
    if (text > kMostSpanText) break;
  }
  return fit;
}

json payload_of(const Start& start) {
  return {{"time", start.time},
          {"rank", start.rank},
          {"world_size", start.world_size},
          {"mode", start.mode},
          {"environment", start.environment},
          {"facts", start.facts}};
}

json payload_of(const Step& step) {
  return {{"step", step.step}, {"time", step.time}, {"values", step.values}};
}

json payload_of(const Spans& spans) {
  std::vector<std::string> strings;
  std::unordered_map<std::string, size_t> index;
  const auto number = [&](const std::string& text) {
    const auto [entry, added] = index.try_emplace(text, strings.size());
    if (added) strings.push_back(text);
    return entry->second;
  };
  std::vector<size_t> names, modules;
  std::vector<int64_t> starts, durations, nodes;
  std::vector<unsigned> streams, phases;
  for (const Span& span : spans.spans) {
    names.push_back(number(span.name));
    modules.push_back(number(span.module));
    starts.push_back(span.start_us);
    durations.push_back(span.duration_us);
    streams.push_back(span.stream);
    phases.push_back(span.phase);
    nodes.push_back(span.node);
  }
  return {{"step", spans.step}, {"time", spans.time}, {"strings", strings}, {"name", names},
          {"module", modules},  {"start", starts},    {"stream", streams},  {"duration", durations},
          {"phase", phases},    {"node", nodes}};
}

json payload_of(const Log& log) {
  return {{"time", log.time}, {"level", static_cast<int>(log.level)}, {"text", log.text}};
}

json payload_of(const End& end) {
  return {{"time", end.time}, {"state", end.state}, {"cause", end.cause}, {"results", end.results}};
}

json payload_of(const Plan& plan) {
  return {{"time", plan.time}, {"hash", plan.hash}, {"document", plan.document}};
}

Start start_of(const json& from) {
  Start start;
  start.time = from.value("time", 0.0);
  start.rank = whole_or(from, "rank", int32_t{0});
  start.world_size = whole_or(from, "world_size", int32_t{1});
  start.mode = from.value("mode", std::string());
  start.environment = from.value("environment", start.environment);
  start.facts = from.value("facts", start.facts);
  return start;
}

Step step_of(const json& from) {
  Step step;
  step.step = whole_or(from, "step", int64_t{0});
  step.time = from.value("time", 0.0);
  step.values = from.value("values", step.values);
  return step;
}

/// For what is CBOR, but no record.
[[noreturn]] void refuse(const json& from, const std::string& what) {
  throw json::other_error::create(501, what, &from);
}

/// A column of a timeline; it must be as long as the others.
template <typename T>
std::vector<T> column_of(const json& from, const char* key, size_t length) {
  const json& list = from.at(key);
  if (list.size() != length) refuse(from, fmt::format("{}: not as long as the others", key));
  std::vector<T> column;
  column.reserve(length);
  for (const json& value : list) column.push_back(whole<T>(value));
  return column;
}

Spans spans_of(const json& from) {
  Spans spans;
  spans.step = whole_or(from, "step", int64_t{0});
  spans.time = from.value("time", 0.0);
  const size_t count = from.at("name").size();
  if (count > kMostSpans) refuse(from, fmt::format("{} spans; at most {}", count, kMostSpans));
  const auto names = column_of<size_t>(from, "name", count),
             modules = column_of<size_t>(from, "module", count);
  const auto starts = column_of<int64_t>(from, "start", count),
             durations = column_of<int64_t>(from, "duration", count);
  const auto streams = column_of<uint8_t>(from, "stream", count),
             phases = column_of<uint8_t>(from, "phase", count);
  const auto nodes = from.contains("node") ? column_of<int32_t>(from, "node", count)
                                           : std::vector<int32_t>(count, -1);
  const auto strings = from.at("strings").get<std::vector<std::string>>();
  size_t text = 0;  // a text that stands here once may be the name of every span
  for (size_t i = 0; i < count; ++i) {
    if (names[i] >= strings.size() || modules[i] >= strings.size())
      refuse(from, fmt::format("span {} has a name that is not there", i));
    text += strings[names[i]].size() + strings[modules[i]].size();
    if (text > kMostSpanText) refuse(from, fmt::format("over {} bytes of names", kMostSpanText));
  }
  spans.spans.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    spans.spans.push_back({strings[names[i]], strings[modules[i]], starts[i], durations[i],
                           streams[i], phases[i], nodes[i]});
    if (!has_sound_times(spans.spans.back())) refuse(from, fmt::format("span {}: its times", i));
  }
  return spans;
}

Log log_of(const json& from) {
  Log log;
  log.time = from.value("time", 0.0);
  log.level = static_cast<Level>(std::clamp(whole_or(from, "level", 0), 0, 2));
  log.text = from.value("text", std::string());
  return log;
}

End end_of(const json& from) {
  End end;
  end.time = from.value("time", 0.0);
  end.state = from.value("state", std::string());
  end.cause = from.value("cause", std::string());
  end.results = from.value("results", end.results);
  return end;
}

Plan plan_of(const json& from) {
  Plan plan;
  plan.time = from.value("time", 0.0);
  plan.hash = from.value("hash", std::string());
  plan.document = from.value("document", std::string());
  return plan;
}

}  // namespace

Type type_of(const Record& record) { return static_cast<Type>(record.index() + 1); }

size_t cut_to_fit(Spans& spans) {
  const size_t fit = spans_that_fit(spans.spans), all = spans.spans.size();
  spans.spans.resize(fit);
  return all - fit;
}

Result<std::string> encode(const Record& record, uint64_t seq) {
  const Type type = type_of(record);
  if (const auto* timeline = std::get_if<Spans>(&record);
      timeline && spans_that_fit(timeline->spans) < timeline->spans.size())
    return fail("a telemetry record that nobody would read: {} spans; {} fit",
                timeline->spans.size(), spans_that_fit(timeline->spans));
  const json payload = std::visit([](const auto& one) { return payload_of(one); }, record);
  std::string bytes;
  json::to_cbor(payload, bytes);
  if (const Result<> readable = check_cbor(bytes, budget_of(type)); !readable)
    return fail("a telemetry record that nobody would read: {}", readable.error().message);
  return frame(static_cast<uint16_t>(type), seq, bytes);
}

Result<Record> decode(Type type, std::string_view payload) {
  if (type < Type::start || type > Type::plan)
    return fail("telemetry record of unknown type {}", static_cast<int>(type));
  const Result<json> from = read_cbor(payload, budget_of(type));
  if (!from) return fail("telemetry payload: {}", from.error().message);
  if (!from->is_object()) return fail("telemetry payload: not a map");
  try {
    switch (type) {
      case Type::start:
        return start_of(*from);
      case Type::step:
        return step_of(*from);
      case Type::spans:
        return spans_of(*from);
      case Type::log:
        return log_of(*from);
      case Type::end:
        return end_of(*from);
      case Type::plan:
        break;
    }
    return plan_of(*from);
  } catch (const json::exception& error) {
    return fail("telemetry payload of type {}: {}", static_cast<int>(type), error.what());
  }
}

}  // namespace heddle::telemetry
