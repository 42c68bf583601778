#include "engine/links/judge_links.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"

namespace heddle::links {
namespace {

constexpr double kSlowRate = 0.5, kSlowWord = 4, kWordSeconds = 1e-3;

/// The value below which a share of them is.
double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto at = static_cast<size_t>(share * static_cast<double>(values.size()));
  return values[std::min(at, values.size() - 1)];
}

std::string rate_text(double bytes_per_second) { return bytes_text(bytes_per_second) + "/s"; }
std::string word_text(double seconds) { return fmt::format("{:.2g} ms", 1e3 * seconds); }

/// The links are compared with these.
struct Usual {
  double rate = 0, word = 0;
};

Usual usual_of(const std::vector<Pair>& pairs) {
  std::vector<double> rates, words;
  for (const Pair& pair : pairs) {
    rates.push_back(pair.link.bytes_per_second());
    words.push_back(pair.link.seconds);
  }
  // A slow host makes most links of few hosts slow.
  return {quantile(rates, 0.75), quantile(words, 0.25)};
}

const Pair* find_same(const std::vector<Pair>& pairs, const Pair& pair) {
  const auto at = std::ranges::find_if(
      pairs, [&](const Pair& each) { return each.from == pair.from && each.to == pair.to; });
  return at == pairs.end() ? nullptr : &*at;
}

/// Why a link is slow; empty: it is not.
std::string slowness_of(const Link& link, const Usual& usual, const char* whose) {
  if (link.bytes_per_second() < kSlowRate * usual.rate)
    return fmt::format("{}, {} {}", rate_text(link.bytes_per_second()), whose,
                       rate_text(usual.rate));
  if (link.seconds > kSlowWord * usual.word && link.seconds > usual.word + kWordSeconds)
    return fmt::format("a word takes {} there and back, {} {}", word_text(link.seconds), whose,
                       word_text(usual.word));
  return {};
}

/// The host whose best link is far slower than the others' best, which are slow
/// only a little; of two that are alike neither is known.
void keep_slowest(std::vector<bool>& culprit, const std::vector<Pair>& pairs) {
  std::vector<double> best(culprit.size());
  for (const Pair& pair : pairs)
    for (const size_t host : {pair.from, pair.to})
      best[host] = std::max(best[host], pair.link.bytes_per_second());
  std::vector<size_t> hosts;
  for (size_t host = 0; host < culprit.size(); ++host)
    if (culprit[host]) hosts.push_back(host);
  std::ranges::sort(hosts, {}, [&](size_t host) { return best[host]; });
  const bool is_one =
      hosts.size() == 1 || (hosts.size() > 1 && best[hosts[0]] < kSlowRate * best[hosts[1]]);
  culprit.assign(culprit.size(), false);
  if (is_one) culprit[hosts[0]] = true;
}

}  // namespace

std::vector<Slowness> judge_links(const std::vector<std::string>& names,
                                  const std::vector<Pair>& pairs, const std::vector<Pair>& before) {
  const Usual usual = usual_of(pairs);
  std::vector<std::string> why(pairs.size());
  std::vector<size_t> links(names.size()), slow(names.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    why[i] = slowness_of(pair.link, usual, "others");
    const Pair* earlier = find_same(before, pair);
    if (why[i].empty() && earlier)
      why[i] = slowness_of(pair.link, {earlier->link.bytes_per_second(), earlier->link.seconds},
                           "before");
    for (const size_t host : {pair.from, pair.to}) {
      ++links[host];
      slow[host] += why[i].empty() ? 0 : 1;
    }
  }
  // A host all of whose links are slow is one cause, not several.
  std::vector<bool> culprit(names.size());
  for (size_t host = 0; host < names.size(); ++host)
    culprit[host] = links[host] >= 2 && slow[host] == links[host];
  keep_slowest(culprit, pairs);
  std::vector<Slowness> found;
  for (size_t host = 0; host < names.size(); ++host) {
    if (!culprit[host]) continue;
    const auto worst = std::ranges::min_element(pairs, {}, [&](const Pair& pair) {
      return pair.from == host || pair.to == host ? pair.link.bytes_per_second() : 1e300;
    });
    found.push_back({fmt::format("{} is slow: all of its links are; the slowest, to {}: {}",
                                 names[host], names[worst->from == host ? worst->to : worst->from],
                                 why[static_cast<size_t>(worst - pairs.begin())])});
  }
  for (size_t i = 0; i < pairs.size(); ++i)
    if (!why[i].empty() && !culprit[pairs[i].from] && !culprit[pairs[i].to])
      found.push_back({fmt::format("the link between {} and {} is slow: {}", names[pairs[i].from],
                                   names[pairs[i].to], why[i])});
  return found;
}

}  // namespace heddle::links
