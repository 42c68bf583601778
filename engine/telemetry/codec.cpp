// Records to CBOR payloads and back. Short keys are not worth it: a step is about 300 bytes. Spans
// are columns with a table of names, since the same few operators and modules repeat thousands of
// times.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "engine/telemetry/frame.h"
#include "engine/telemetry/record.h"

namespace heddle::telemetry {
namespace {

using nlohmann::json;

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
  start.rank = from.value("rank", 0);
  start.world_size = from.value("world_size", 1);
  start.mode = from.value("mode", std::string());
  start.environment = from.value("environment", start.environment);
  start.facts = from.value("facts", start.facts);
  return start;
}

Step step_of(const json& from) {
  Step step;
  step.step = from.value("step", int64_t{0});
  step.time = from.value("time", 0.0);
  step.values = from.value("values", step.values);
  return step;
}

Spans spans_of(const json& from) {
  Spans spans;
  spans.step = from.value("step", int64_t{0});
  spans.time = from.value("time", 0.0);
  const json& strings = from.at("strings");
  const json& names = from.at("name");
  const json nodes = from.value("node", json::array());
  for (size_t i = 0; i < names.size(); ++i) {
    Span span;
    span.name = strings.at(names[i].get<size_t>()).get<std::string>();
    span.module = strings.at(from.at("module").at(i).get<size_t>()).get<std::string>();
    span.start_us = from.at("start").at(i);
    span.duration_us = from.at("duration").at(i);
    span.stream = from.at("stream").at(i);
    span.phase = from.at("phase").at(i);
    if (i < nodes.size()) span.node = nodes.at(i);
    spans.spans.push_back(std::move(span));
  }
  return spans;
}

Log log_of(const json& from) {
  Log log;
  log.time = from.value("time", 0.0);
  log.level = static_cast<Level>(std::clamp(from.value("level", 0), 0, 2));
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

Result<std::string> encode(const Record& record, uint64_t seq) {
  const json payload = std::visit([](const auto& one) { return payload_of(one); }, record);
  std::string bytes;
  json::to_cbor(payload, bytes);
  if (bytes.size() > kMaxPayloadBytes) {
    return fail("a telemetry record of {} bytes; at most {} fit", bytes.size(), kMaxPayloadBytes);
  }
  return frame(static_cast<uint16_t>(type_of(record)), seq, bytes);
}

Result<Record> decode(Type type, std::string_view payload) {
  try {
    const json from = json::from_cbor(payload);
    if (!from.is_object()) return fail("telemetry payload: not a map");
    switch (type) {
      case Type::start:
        return start_of(from);
      case Type::step:
        return step_of(from);
      case Type::spans:
        return spans_of(from);
      case Type::log:
        return log_of(from);
      case Type::end:
        return end_of(from);
      case Type::plan:
        return plan_of(from);
    }
    return fail("telemetry record of unknown type {}", static_cast<int>(type));
  } catch (const json::exception& error) {
    return fail("telemetry payload of type {}: {}", static_cast<int>(type), error.what());
  }
}

}  // namespace heddle::telemetry
