#include "engine/search/counting_ranks.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/number_text.h"
#include "engine/hardware/catalogue.h"

namespace heddle::search {
namespace {

/// The hardware's catalogue entry; this machine has none.
void add_price(plan::RankCounts& all) {
  const auto entry = hardware::load_catalogue().find(all.hardware);
  if (!entry || !entry->node.usd_per_device_hour.known()) return;
  all.usd_per_rank_hour = entry->node.usd_per_device_hour.value;
  all.price_source = entry->node.usd_per_device_hour.source;
}

std::string lacking(const plan::SearchResult& result) {
  if (!result.least) return result.complete ? "nothing fits" : "cancelled";
  return fmt::format(
      "nothing fits: least lacks {}",
      bytes_text(static_cast<double>(result.least->peak_bytes - result.limit_bytes)));
}

}  // namespace

plan::CountingAnswer count_ranks(predict::Planning& planning, const plan::SearchQuestion& asked,
                                 const CountingHooks& hooks) {
  const auto begin = Clock::now();
  plan::RankCounts all;
  all.tokens = asked.tokens;
  std::optional<plan::SearchAnswer> refused;
  bool searched = false;
  for (size_t i = 0; i < asked.counts.size() && !hooks.cancelled(); ++i) {
    plan::SearchQuestion search = asked;
    search.ranks = asked.counts[i];
    const auto share = [&](double of_this) {
      return (static_cast<double>(i) + of_this) / static_cast<double>(asked.counts.size());
    };
    const Hooks each{.cancelled = hooks.cancelled, .progress = [&](const auto&, double done) {
                       hooks.progress(all, share(done));
                     }};
    plan::SearchAnswer answer = search_layouts(planning, search, each);
    plan::RankCount count{.ranks = asked.counts[i]};
    if (const auto* result = std::get_if<plan::SearchResult>(&answer)) {
      if (!searched) {
        all.hardware = result->hardware;
        all.hardware_words = result->hardware_words;
        all.limit_bytes = result->limit_bytes;
        add_price(all);
      }
      searched = true;
      count.tokens_per_step = result->tokens_per_step;
      if (result->front.empty())
        count.why = lacking(*result);
      else
        count.best = result->front.front();
    } else if (const auto* faults = std::get_if<std::vector<recipe::Fault>>(&answer)) {
      count.why = faults->front().what;
      if (!refused) refused = std::move(answer);
    } else {
      count.why = std::get<Error>(answer).message;
      if (!refused) refused = std::move(answer);
    }
    all.counts.push_back(std::move(count));
    all.seconds = seconds_since(begin);
    hooks.progress(all, share(1));
  }
  all.complete = all.counts.size() == asked.counts.size() && !hooks.cancelled();
  if (searched || !refused || !all.complete) return all;
  if (const auto* error = std::get_if<Error>(&*refused)) return *error;
  return std::get<std::vector<recipe::Fault>>(*refused);
}

}  // namespace heddle::search
