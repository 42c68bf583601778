#include "engine/plan/search_result.h"

#include <nlohmann/json.hpp>

#include "base/json_number.h"

namespace heddle::plan {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

std::optional<Found> found_or_none(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return found_from_json(*found);
}

}  // namespace

OrderedJson to_json(const Found& found) {
  return {{"words", found.words},
          {"sets", found.sets},
          {"mesh", found.mesh},
          {"step_seconds", found.step_seconds},
          {"tokens_per_second", found.tokens_per_second},
          {"compute_seconds", found.compute_seconds},
          {"exposed_seconds", found.exposed_seconds},
          {"bubble_seconds", found.bubble_seconds},
          {"peak_bytes", found.peak_bytes},
          {"fits", found.fits}};
}

Found found_from_json(const Json& json) {
  return {.sets = json.value("sets", std::vector<std::string>{}),
          .words = json.value("words", ""),
          .mesh = json.value("mesh", std::vector<int64_t>{}),
          .step_seconds = json.value("step_seconds", 0.0),
          .tokens_per_second = json.value("tokens_per_second", 0.0),
          .compute_seconds = json.value("compute_seconds", 0.0),
          .exposed_seconds = json.value("exposed_seconds", 0.0),
          .bubble_seconds = json.value("bubble_seconds", 0.0),
          .peak_bytes = whole_or(json, "peak_bytes", int64_t{0}),
          .fits = json.value("fits", false)};
}

OrderedJson to_json(const SearchResult& result) {
  OrderedJson json = {{"hardware", result.hardware},
                      {"hardware_words", result.hardware_words},
                      {"ranks", result.ranks},
                      {"tokens_per_step", result.tokens_per_step},
                      {"limit_bytes", result.limit_bytes},
                      {"margin_bytes", result.margin_bytes},
                      {"never_measured", result.never_measured},
                      {"candidates", result.candidates},
                      {"planned", result.planned},
                      {"complete", result.complete},
                      {"seconds", result.seconds},
                      {"front", OrderedJson::array()}};
  for (const Found& found : result.front) json["front"].push_back(to_json(found));
  if (result.given) json["given"] = to_json(*result.given);
  if (!result.given_why.empty()) json["given_why"] = result.given_why;
  json["alternatives"] = OrderedJson::array();
  for (const Alternative& each : result.alternatives) {
    OrderedJson alternative = {{"name", each.name}, {"why", each.why}};
    if (each.found) alternative["found"] = to_json(*each.found);
    json["alternatives"].push_back(std::move(alternative));
  }
  if (result.least) {
    json["least"] = to_json(*result.least);
    json["closed_by"] = result.closed_by;
  }
  return json;
}

SearchResult search_result_from_json(const Json& json) {
  SearchResult result{.hardware = json.value("hardware", ""),
                      .hardware_words = json.value("hardware_words", ""),
                      .ranks = whole_or(json, "ranks", int64_t{1}),
                      .tokens_per_step = whole_or(json, "tokens_per_step", int64_t{0}),
                      .limit_bytes = whole_or(json, "limit_bytes", int64_t{0}),
                      .margin_bytes = whole_or(json, "margin_bytes", int64_t{0}),
                      .never_measured = json.value("never_measured", ""),
                      .front = {},
                      .given = found_or_none(json, "given"),
                      .given_why = json.value("given_why", ""),
                      .alternatives = {},
                      .least = found_or_none(json, "least"),
                      .closed_by = json.value("closed_by", std::vector<std::string>{}),
                      .candidates = whole_or(json, "candidates", int64_t{0}),
                      .planned = whole_or(json, "planned", int64_t{0}),
                      .complete = json.value("complete", false),
                      .seconds = json.value("seconds", 0.0)};
  for (const Json& found : json.value("front", Json::array()))
    result.front.push_back(found_from_json(found));
  for (const Json& each : json.value("alternatives", Json::array()))
    result.alternatives.push_back(
        {each.value("name", ""), found_or_none(each, "found"), each.value("why", "")});
  return result;
}

}  // namespace heddle::plan
