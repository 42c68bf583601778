#include "engine/plan/document.h"

#include <nlohmann/json.hpp>

namespace heddle::plan {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

OrderedJson memory_json(const MemoryBytes& memory) {
  OrderedJson json;
  for (size_t i = 0; i < kCategories; ++i) json[kCategoryNames[i]] = memory.bytes[i];
  return json;
}

MemoryBytes memory_from(const Json& json) {
  MemoryBytes memory;
  for (size_t i = 0; i < kCategories; ++i)
    memory.bytes[i] = json.value(kCategoryNames[i], int64_t{0});
  return memory;
}

OrderedJson rank_json(const RankFigures& rank) {
  return {{"rank", rank.rank},
          {"stage", rank.stage},
          {"ranks", rank.ranks},
          {"step_seconds", rank.step_seconds},
          {"compute_seconds", rank.compute_seconds},
          {"exposed_seconds", rank.exposed_seconds},
          {"bubble_seconds", rank.bubble_seconds},
          {"idle_seconds", rank.idle_seconds},
          {"peak_bytes", rank.peak_bytes},
          {"memory", memory_json(rank.memory)}};
}

RankFigures rank_from(const Json& json) {
  return {.rank = json.value("rank", int64_t{0}),
          .stage = json.value("stage", int64_t{0}),
          .ranks = json.value("ranks", int64_t{1}),
          .step_seconds = json.value("step_seconds", 0.0),
          .compute_seconds = json.value("compute_seconds", 0.0),
          .exposed_seconds = json.value("exposed_seconds", 0.0),
          .bubble_seconds = json.value("bubble_seconds", 0.0),
          .idle_seconds = json.value("idle_seconds", 0.0),
          .peak_bytes = json.value("peak_bytes", int64_t{0}),
          .memory = memory_from(json.value("memory", Json::object()))};
}

OrderedJson bucket_json(const BucketFigures& bucket) {
  return {{"name", bucket.name},
          {"modules", bucket.modules},
          {"stage", bucket.stage},
          {"gather_bytes", bucket.gather_bytes},
          {"gather_seconds", bucket.gather_seconds},
          {"scatter_seconds", bucket.scatter_seconds},
          {"exposed_seconds", bucket.exposed_seconds}};
}

BucketFigures bucket_from(const Json& json) {
  return {.name = json.value("name", ""),
          .modules = json.value("modules", std::vector<std::string>{}),
          .stage = json.value("stage", int64_t{0}),
          .gather_bytes = json.value("gather_bytes", int64_t{0}),
          .gather_seconds = json.value("gather_seconds", 0.0),
          .scatter_seconds = json.value("scatter_seconds", 0.0),
          .exposed_seconds = json.value("exposed_seconds", 0.0)};
}

// Rows of a timeline are arrays: there are thousands of them.
OrderedJson timeline_json(const RankTimeline& timeline) {
  OrderedJson spans = OrderedJson::array(), memory = OrderedJson::array();
  for (const telemetry::Span& span : timeline.spans)
    spans.push_back({span.name, span.module, span.start_us, span.duration_us, span.stream,
                     span.phase, span.node});
  for (const MemoryMoment& moment : timeline.memory) {
    OrderedJson row = OrderedJson::array({moment.time_us});
    for (const int64_t bytes : moment.bytes.bytes) row.push_back(bytes);
    memory.push_back(std::move(row));
  }
  return {{"rank", timeline.rank}, {"spans", std::move(spans)}, {"memory", std::move(memory)}};
}

RankTimeline timeline_from(const Json& json) {
  RankTimeline timeline{json.value("rank", int64_t{0}), {}, {}};
  for (const Json& row : json.value("spans", Json::array()))
    timeline.spans.push_back({.name = row.at(0),
                              .module = row.at(1),
                              .start_us = row.at(2),
                              .duration_us = row.at(3),
                              .stream = row.at(4),
                              .phase = row.at(5),
                              .node = row.at(6)});
  for (const Json& row : json.value("memory", Json::array())) {
    MemoryMoment moment{row.at(0), {}};
    for (size_t i = 0; i < kCategories; ++i) moment.bytes.bytes[i] = row.at(i + 1);
    timeline.memory.push_back(moment);
  }
  return timeline;
}

template <typename T, typename ToJson>
OrderedJson list_json(const std::vector<T>& list, const ToJson& to_json) {
  OrderedJson json = OrderedJson::array();
  for (const T& each : list) json.push_back(to_json(each));
  return json;
}

template <typename FromJson>
auto list_from(const Json& json, const char* key, const FromJson& from_json) {
  std::vector<decltype(from_json(json))> list;
  for (const Json& each : json.value(key, Json::array())) list.push_back(from_json(each));
  return list;
}

}  // namespace

OrderedJson to_json(const Document& document) {
  const Mfu shown = document.mfu.empty() ? Mfu{} : document.mfu.front();
  OrderedJson json = {
      {"recipe", document.recipe},
      {"hardware", document.hardware},
      {"hardware_words", document.hardware_words},
      {"ranks", document.ranks},
      {"executor", document.executor},
      {"step_seconds", document.step_seconds},
      {"tokens_per_step", document.tokens_per_step},
      {"tokens_per_second_per_rank", document.tokens_per_second_per_rank},
      {"mfu", shown.mfu},
      {"mfu_convention", shown.convention},
      {"mfu_by_convention", list_json(document.mfu,
                                      [](const Mfu& mfu) {
                                        return OrderedJson{{"convention", mfu.convention},
                                                           {"flops_per_token", mfu.flops_per_token},
                                                           {"mfu", mfu.mfu}};
                                      })},
      {"peak_flops", document.peak_flops},
      {"exposed_seconds", document.exposed_seconds},
      {"bubble_seconds", document.bubble_seconds},
      {"peak_bytes", document.peak_bytes},
      {"limit_bytes", document.limit_bytes},
      {"fits", document.fits()},
      {"peak_rank", document.peak_rank},
      {"memory", memory_json(document.memory)},
      {"ranks_shown", list_json(document.ranks_shown, rank_json)},
      {"buckets", list_json(document.buckets, bucket_json)},
      {"collectives", document.collectives},
      {"bytes_by_group", document.bytes_by_group},
      {"exposed", list_json(document.exposed,
                            [](const Exposed& exposed) {
                              return OrderedJson{{"node", exposed.node},
                                                 {"rank", exposed.rank},
                                                 {"bucket", exposed.bucket},
                                                 {"seconds", exposed.seconds},
                                                 {"why", exposed.why}};
                            })},
      {"uncertain", document.uncertain},
      {"uncertain_words", document.uncertain_words},
      {"sources", document.sources},
      {"remarks", document.remarks},
      {"choice", document.choice},
      {"plan_hash", document.plan_hash},
      {"plan_seconds", document.plan_seconds}};
  if (!document.timelines.empty()) json["timelines"] = list_json(document.timelines, timeline_json);
  return json;
}

Document from_json(const Json& json) {
  Document document;
  const auto read = [&](const char* key, auto& member) { member = json.value(key, member); };
  read("recipe", document.recipe);
  read("hardware", document.hardware);
  read("hardware_words", document.hardware_words);
  read("ranks", document.ranks);
  read("executor", document.executor);
  read("step_seconds", document.step_seconds);
  read("tokens_per_step", document.tokens_per_step);
  read("tokens_per_second_per_rank", document.tokens_per_second_per_rank);
  read("peak_flops", document.peak_flops);
  read("exposed_seconds", document.exposed_seconds);
  read("bubble_seconds", document.bubble_seconds);
  read("peak_bytes", document.peak_bytes);
  read("limit_bytes", document.limit_bytes);
  read("peak_rank", document.peak_rank);
  read("collectives", document.collectives);
  read("bytes_by_group", document.bytes_by_group);
  read("uncertain", document.uncertain);
  read("uncertain_words", document.uncertain_words);
  read("sources", document.sources);
  read("remarks", document.remarks);
  read("choice", document.choice);
  read("plan_hash", document.plan_hash);
  read("plan_seconds", document.plan_seconds);
  document.memory = memory_from(json.value("memory", Json::object()));
  document.mfu = list_from(json, "mfu_by_convention", [](const Json& each) {
    return Mfu{each.value("convention", ""), each.value("flops_per_token", 0.0),
               each.value("mfu", 0.0)};
  });
  document.ranks_shown = list_from(json, "ranks_shown", rank_from);
  document.buckets = list_from(json, "buckets", bucket_from);
  document.exposed = list_from(json, "exposed", [](const Json& each) {
    return Exposed{each.value("node", ""), each.value("rank", int64_t{0}),
                   each.value("bucket", int64_t{-1}), each.value("seconds", 0.0),
                   each.value("why", "")};
  });
  document.timelines = list_from(json, "timelines", timeline_from);
  return document;
}

}  // namespace heddle::plan
