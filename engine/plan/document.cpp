#include "engine/plan/document.h"

#include <algorithm>
#include <concepts>
#include <nlohmann/json.hpp>

#include "base/json_number.h"
#include "engine/telemetry/memory_table.h"
#include "engine/telemetry/span_table.h"

namespace heddle::plan {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

OrderedJson memory_json(const MemoryBytes& memory) {
  OrderedJson json;
  for (size_t i = 0; i < kCategories; ++i) json[kCategoryNames[i]] = memory.bytes[i];
  return json;
}

constexpr size_t kMaxPlanText = size_t{64} << 20;

int64_t bytes_or_none(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? 0 : telemetry::bytes_from(*found);
}

MemoryBytes memory_from(const Json& json) {
  MemoryBytes memory;
  for (size_t i = 0; i < kCategories; ++i) memory.bytes[i] = bytes_or_none(json, kCategoryNames[i]);
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
  return {.rank = whole_or(json, "rank", int64_t{0}),
          .stage = whole_or(json, "stage", int64_t{0}),
          .ranks = whole_or(json, "ranks", int64_t{1}),
          .step_seconds = json.value("step_seconds", 0.0),
          .compute_seconds = json.value("compute_seconds", 0.0),
          .exposed_seconds = json.value("exposed_seconds", 0.0),
          .bubble_seconds = json.value("bubble_seconds", 0.0),
          .idle_seconds = json.value("idle_seconds", 0.0),
          .peak_bytes = bytes_or_none(json, "peak_bytes"),
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
          .stage = whole_or(json, "stage", int64_t{0}),
          .gather_bytes = bytes_or_none(json, "gather_bytes"),
          .gather_seconds = json.value("gather_seconds", 0.0),
          .scatter_seconds = json.value("scatter_seconds", 0.0),
          .exposed_seconds = json.value("exposed_seconds", 0.0)};
}

OrderedJson variant_json(const Variant& variant) {
  return {{"sets", variant.sets},
          {"ranks", variant.ranks},
          {"peak_bytes", variant.peak_bytes},
          {"limit_bytes", variant.limit_bytes},
          {"lacks_bytes", variant.lacks()},
          {"step_seconds", variant.step_seconds}};
}

Variant variant_from(const Json& json) {
  return {.sets = json.value("sets", std::vector<std::string>{}),
          .ranks = whole_or(json, "ranks", int64_t{0}),
          .peak_bytes = bytes_or_none(json, "peak_bytes"),
          .limit_bytes = bytes_or_none(json, "limit_bytes"),
          .step_seconds = json.value("step_seconds", 0.0)};
}

OrderedJson transfers_json(const std::vector<Transfer>& transfers) {
  std::vector<std::string> groups;
  std::vector<size_t> group;
  std::vector<int64_t> node, wait, bytes;
  for (const Transfer& transfer : transfers) {
    const auto known = std::ranges::find(groups, transfer.group);
    group.push_back(static_cast<size_t>(known - groups.begin()));
    if (known == groups.end()) groups.push_back(transfer.group);
    node.push_back(transfer.node);
    wait.push_back(transfer.wait);
    bytes.push_back(transfer.bytes);
  }
  return {{"groups", groups}, {"group", group}, {"node", node}, {"wait", wait}, {"bytes", bytes}};
}

OrderedJson timeline_json(const RankTimeline& timeline) {
  OrderedJson json = {{"rank", timeline.rank}};
  telemetry::put_spans(json, timeline.spans);
  json["memory"] = telemetry::memory_table<OrderedJson>(timeline.memory);
  if (!timeline.transfers.empty()) json["transfers"] = transfers_json(timeline.transfers);
  return json;
}

std::vector<Transfer> transfers_from(const Json& json) {
  const size_t count = json.at("node").size();
  const auto nodes = telemetry::column_from<int32_t>(json, "node", count),
             waits = telemetry::column_from<int32_t>(json, "wait", count);
  const auto group = telemetry::column_from<size_t>(json, "group", count);
  const auto groups = json.at("groups").get<std::vector<std::string>>();
  const Json& bytes = json.at("bytes");
  if (bytes.size() != count) refuse_json(json, "bytes: not as long as the other columns");
  std::vector<Transfer> transfers;
  for (size_t i = 0; i < count; ++i) {
    if (group[i] >= groups.size()) refuse_json(json, "a transfer of a group that is not there");
    transfers.push_back({nodes[i], waits[i], telemetry::bytes_from(bytes.at(i)), groups[group[i]]});
  }
  return transfers;
}

/// `text`: bytes of names so far, of all timelines.
RankTimeline timeline_from(const Json& json, size_t& text) {
  RankTimeline timeline{whole_or(json, "rank", int64_t{0}), {}, {}};
  timeline.spans = telemetry::spans_from(json, kMaxPlanText, text);
  timeline.memory = telemetry::memory_from(json.at("memory"));
  if (json.contains("transfers")) timeline.transfers = transfers_from(json["transfers"]);
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

OrderedJson shortfall_json(const Shortfall& shortfall, int64_t rank, const MemoryBytes& memory) {
  OrderedJson json = {{"bytes", shortfall.bytes},
                      {"rank", rank},
                      {"category", kCategoryNames[static_cast<size_t>(shortfall.largest)]},
                      {"category_bytes", memory[shortfall.largest]},
                      {"closed_by", list_json(shortfall.closed_by, variant_json)}};
  if (shortfall.least) json["least"] = variant_json(*shortfall.least);
  return json;
}

Shortfall shortfall_from(const Json& json) {
  Shortfall shortfall{.bytes = bytes_or_none(json, "bytes")};
  for (size_t i = 0; i < kCategories; ++i)
    if (json.value("category", "") == kCategoryNames[i])
      shortfall.largest = static_cast<Category>(i);
  shortfall.closed_by = list_from(json, "closed_by", variant_from);
  if (json.contains("least")) shortfall.least = variant_from(json["least"]);
  return shortfall;
}

OrderedJson interval_json(const Interval& interval) {
  return {{"step_low", interval.step_low},
          {"step_high", interval.step_high},
          {"bytes_low", interval.bytes_low},
          {"bytes_high", interval.bytes_high},
          {"words", interval.words}};
}

Interval interval_from(const Json& json) {
  return {json.value("step_low", 0.0), json.value("step_high", 0.0), json.value("bytes_low", 0.0),
          json.value("bytes_high", 0.0), json.value("words", "")};
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
      {"refined_by_runs", document.refined_by_runs},
      {"never_measured", document.never_measured},
      {"busy_now", document.busy_now},
      {"sources", document.sources},
      {"remarks", document.remarks},
      {"published", document.published},
      {"choice", document.choice},
      {"plan_hash", document.plan_hash},
      {"plan_seconds", document.plan_seconds}};
  if (document.interval) json["interval"] = interval_json(*document.interval);
  if (document.shortfall)
    json["shortfall"] = shortfall_json(*document.shortfall, document.peak_rank, document.memory);
  if (!document.timelines.empty()) json["timelines"] = list_json(document.timelines, timeline_json);
  return json;
}

Document from_json(const Json& json) {
  Document document;
  const auto read = [&]<typename T>(const char* key, T& member) {
    if constexpr (std::integral<T>) {
      member = whole_or(json, key, member);
    } else {
      member = json.value(key, member);
    }
  };
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
  document.peak_bytes = bytes_or_none(json, "peak_bytes");
  document.limit_bytes = bytes_or_none(json, "limit_bytes");
  read("peak_rank", document.peak_rank);
  read("collectives", document.collectives);
  const Json groups = json.value("bytes_by_group", Json::object());
  for (const auto& [group, bytes] : groups.items())
    document.bytes_by_group[group] = telemetry::bytes_from(bytes);
  read("uncertain", document.uncertain);
  read("uncertain_words", document.uncertain_words);
  read("refined_by_runs", document.refined_by_runs);
  read("never_measured", document.never_measured);
  read("busy_now", document.busy_now);
  read("sources", document.sources);
  read("remarks", document.remarks);
  read("published", document.published);
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
    return Exposed{each.value("node", ""), whole_or(each, "rank", int64_t{0}),
                   whole_or(each, "bucket", int64_t{-1}), each.value("seconds", 0.0),
                   each.value("why", "")};
  });
  if (json.contains("interval")) document.interval = interval_from(json["interval"]);
  if (json.contains("shortfall")) document.shortfall = shortfall_from(json["shortfall"]);
  size_t text = 0;
  document.timelines = list_from(
      json, "timelines", [&](const Json& timeline) { return timeline_from(timeline, text); });
  return document;
}

}  // namespace heddle::plan
