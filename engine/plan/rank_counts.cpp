#include "engine/plan/rank_counts.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/json_number.h"

namespace heddle::plan {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxCounts = 32;
constexpr int64_t kMaxRanks = 1'000'000;
constexpr double kHour = 3600, kMillion = 1e6;

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<int64_t> ranks_of(std::string_view text) {
  text = trimmed(text);
  int64_t ranks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (ranks < 1 || ranks > kMaxRanks) return std::nullopt;
  return ranks;
}

void put(OrderedJson& json, const char* key, const std::optional<double>& value) {
  if (value) json[key] = *value;
}

}  // namespace

std::optional<double> efficiency(const RankCounts& all, const RankCount& count) {
  const RankCount* least = nullptr;
  for (const RankCount& each : all.counts)
    if (each.best && (!least || each.ranks < least->ranks)) least = &each;
  if (!least || !count.best) return std::nullopt;
  const auto of_a_rank = [](const RankCount& each) {
    return each.best->tokens_per_second / static_cast<double>(each.ranks);
  };
  return of_a_rank(count) / of_a_rank(*least);
}

std::optional<double> usd_per_million_tokens(const RankCounts& all, const RankCount& count) {
  if (!all.usd_per_rank_hour || !count.best) return std::nullopt;
  const double usd_per_second = *all.usd_per_rank_hour * static_cast<double>(count.ranks) / kHour;
  return usd_per_second / count.best->tokens_per_second * kMillion;
}

std::optional<double> training_seconds(const RankCounts& all, const RankCount& count) {
  if (all.tokens <= 0 || !count.best) return std::nullopt;
  return all.tokens / count.best->tokens_per_second;
}

std::optional<double> training_usd(const RankCounts& all, const RankCount& count) {
  const auto usd = usd_per_million_tokens(all, count);
  if (!usd || all.tokens <= 0) return std::nullopt;
  return *usd * all.tokens / kMillion;
}

Result<std::vector<int64_t>> parse_rank_counts(std::string_view text) {
  constexpr const char* kValid = "valid: as in \"8, 16, 64\", or \"8-64\", which doubles";
  std::vector<int64_t> counts;
  const size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto first = ranks_of(text.substr(0, dash)), last = ranks_of(text.substr(dash + 1));
    if (!first || !last || *first > *last)
      return fail("\"{}\" is no range of ranks; {}", text, kValid);
    for (int64_t ranks = *first; ranks <= *last; ranks *= 2) counts.push_back(ranks);
    return counts;
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view each = text.substr(begin, comma - begin);
    const auto ranks = ranks_of(each);
    if (!ranks)
      return fail("\"{}\" is no number of ranks from 1 to {}; {}", trimmed(each), kMaxRanks,
                  kValid);
    counts.push_back(*ranks);
    begin = comma + 1;
  }
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  if (counts.size() > kMaxCounts)
    return fail("{} numbers of ranks; valid: {} at most", counts.size(), kMaxCounts);
  return counts;
}

Result<double> parse_tokens(std::string_view text) {
  constexpr std::pair<char, double> kUnits[] = {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'T', 1e12}};
  constexpr double kMax = 1e18;
  const std::string_view all = text;
  text = trimmed(text);
  double unit = 1;
  for (const auto& [letter, size] : kUnits) {
    if (text.empty() || text.back() != letter) continue;
    unit = size;
    text = trimmed(text.substr(0, text.size() - 1));
    break;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool read = error == std::errc() && end == text.data() + text.size();
  if (!read || !(number > 0) || number * unit > kMax)
    return fail("\"{}\" is no number of tokens; valid: as in \"15T\", \"300B\" or \"1e9\"", all);
  return number * unit;
}

OrderedJson to_json(const RankCounts& all) {
  OrderedJson json = {{"hardware", all.hardware},       {"hardware_words", all.hardware_words},
                      {"limit_bytes", all.limit_bytes}, {"tokens", all.tokens},
                      {"complete", all.complete},       {"seconds", all.seconds}};
  put(json, "usd_per_rank_hour", all.usd_per_rank_hour);
  if (!all.price_source.empty()) json["price_source"] = all.price_source;
  json["counts"] = OrderedJson::array();
  for (const RankCount& count : all.counts) {
    OrderedJson each = {{"ranks", count.ranks}, {"tokens_per_step", count.tokens_per_step}};
    if (count.best) each["best"] = to_json(*count.best);
    if (!count.why.empty()) each["why"] = count.why;
    put(each, "efficiency", efficiency(all, count));
    put(each, "usd_per_million_tokens", usd_per_million_tokens(all, count));
    put(each, "training_seconds", training_seconds(all, count));
    put(each, "training_usd", training_usd(all, count));
    json["counts"].push_back(std::move(each));
  }
  return json;
}

RankCounts rank_counts_from_json(const Json& json) {
  RankCounts all{.hardware = json.value("hardware", ""),
                 .hardware_words = json.value("hardware_words", ""),
                 .limit_bytes = whole_or(json, "limit_bytes", int64_t{0}),
                 .usd_per_rank_hour = std::nullopt,
                 .price_source = json.value("price_source", ""),
                 .tokens = json.value("tokens", 0.0),
                 .counts = {},
                 .complete = json.value("complete", false),
                 .seconds = json.value("seconds", 0.0)};
  if (const auto usd = json.find("usd_per_rank_hour"); usd != json.end())
    all.usd_per_rank_hour = usd->get<double>();
  for (const Json& each : json.value("counts", Json::array())) {
    RankCount count{.ranks = whole_or(each, "ranks", int64_t{1}),
                    .tokens_per_step = whole_or(each, "tokens_per_step", int64_t{0}),
                    .best = std::nullopt,
                    .why = each.value("why", "")};
    if (const auto best = each.find("best"); best != each.end())
      count.best = found_from_json(*best);
    all.counts.push_back(std::move(count));
  }
  return all;
}

}  // namespace heddle::plan
