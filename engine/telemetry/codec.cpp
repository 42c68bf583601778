// Records to CBOR payloads and back. Short keys are not worth it: a step is about 300 bytes.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_number.h"
#include "base/read_json.h"
#include "engine/telemetry/frame.h"
#include "engine/telemetry/memory_table.h"
#include "engine/telemetry/record.h"
#include "engine/telemetry/span_table.h"
#include "engine/telemetry/step_payload.h"

namespace heddle::telemetry {
namespace {

using nlohmann::json;

/// A payload's limits, by its type: many times the size of one of ours.
Budget budget_of(Type type) {
  if (type == Type::spans)
    return {.bytes = kMaxPayloadBytes,
            .values = 8 * kMaxSpans + (kCategories + 1) * kMaxMoments,
            .depth = 3};
  if (type == Type::plan) return {.bytes = kPlanDocument.bytes + 4096, .values = 64, .depth = 1};
  if (type == Type::step) return {.bytes = size_t{1} << 17, .values = 8192, .depth = 2};
  return {.bytes = size_t{1} << 20, .values = 8192, .depth = 2};
}

size_t spans_that_fit(const std::vector<Span>& spans) {
  size_t fit = 0;
  for (size_t text = 0; fit < std::min(spans.size(), kMaxSpans); ++fit) {
    text += spans[fit].name.size() + spans[fit].module.size();
    if (text > kMaxSpanText) break;
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

json payload_of(const Spans& spans) {
  json payload = {{"step", spans.step}, {"time", spans.time}};
  put_spans(payload, spans.spans);
  if (!spans.memory.empty()) payload["memory"] = memory_table<json>(spans.memory);
  return payload;
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

std::string bytes_of(const auto& record) {
  std::string bytes;
  json::to_cbor(payload_of(record), bytes);
  return bytes;
}

std::string bytes_of(const Step& step) {
  std::string bytes;
  begin_step(bytes, step.step, step.time, step.values.size());
  for (const auto& [name, value] : step.values) add_to_step(bytes, name_in_step(name), value);
  return bytes;
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

Spans spans_of(const json& from) {
  Spans spans;
  spans.step = whole_or(from, "step", int64_t{0});
  spans.time = from.value("time", 0.0);
  const size_t count = from.at("name").size();
  if (count > kMaxSpans) refuse_json(from, fmt::format("{} spans; at most {}", count, kMaxSpans));
  size_t text = 0;
  spans.spans = spans_from(from, kMaxSpanText, text);
  if (const auto memory = from.find("memory"); memory != from.end())
    spans.memory = memory_from(*memory);
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

Result<> check_payload(Type type, std::string_view payload) {
  const Result<> readable = check_cbor(payload, budget_of(type));
  if (readable) return {};
  return fail("the telemetry record could not be read back: {}", readable.error().message);
}

Result<std::string> encode(const Record& record, uint64_t seq) {
  const Type type = type_of(record);
  if (const auto* timeline = std::get_if<Spans>(&record);
      timeline && spans_that_fit(timeline->spans) < timeline->spans.size())
    return fail("the telemetry record could not be read back: {} spans; {} fit",
                timeline->spans.size(), spans_that_fit(timeline->spans));
  const std::string bytes = std::visit([](const auto& one) { return bytes_of(one); }, record);
  if (const Result<> readable = check_payload(type, bytes); !readable) return fail(readable);
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
