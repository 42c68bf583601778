#include "engine/launch/flight_report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace heddle::launch {
namespace {

using transport::FlightEntry;

/// A group of the run: its name and its first rank.
using GroupKey = std::pair<std::string, int32_t>;
/// A group's entries of one rank, by sequence number.
using Sequence = std::map<uint64_t, const FlightEntry*>;
using Group = std::map<int32_t, Sequence>;  // by rank

GroupKey key_of(const FlightEntry& entry) { return {entry.group.data(), entry.first_member}; }

const char* state_of(const FlightEntry& entry) {
  if (entry.ended > 0) return "ended";
  return entry.begun > 0 ? "moving" : "waiting";
}

std::string text_of(const FlightEntry& entry) {
  return entry.bytes == 0 ? entry.what.data()
                          : fmt::format("{} ({} bytes)", entry.what.data(), entry.bytes);
}

/// 2026-11-28 02:15:46.123, UTC.
std::string moment(double unix_seconds) {
  const double whole = std::floor(unix_seconds);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03}", fmt::gmtime(static_cast<time_t>(whole)),
                     static_cast<int>((unix_seconds - whole) * 1000));
}

struct Difference {
  double since = std::numeric_limits<double>::infinity();
  std::string text;
};

/// The first collective that has not ended and in which not all ranks are alike.
std::optional<Difference> difference_in(const GroupKey& key, const Group& group) {
  std::map<uint64_t, std::vector<std::pair<int32_t, const FlightEntry*>>> open;
  for (const auto& [rank, sequence] : group)
    for (const auto& [number, entry] : sequence)
      if (entry->ended == 0) open[number].emplace_back(rank, entry);
  for (const auto& [number, here] : open) {
    const auto& [first_rank, first] = here.front();
    for (const auto& [rank, sequence] : group) {
      const auto found = sequence.find(number);
      const bool is_behind = sequence.empty() || sequence.rbegin()->first < number;
      const bool is_other =
          found != sequence.end() && std::string(found->second->what.data()) != first->what.data();
      if (!is_behind && !is_other) continue;
      return Difference{
          first->posted,
          fmt::format("#{} of group {}: rank {} is in {}, rank {} {}", number, key.first,
                      first_rank, text_of(*first), rank,
                      is_other ? "in " + text_of(*found->second) : "has not come to it")};
    }
  }
  return std::nullopt;
}

}  // namespace

std::string first_difference(const std::vector<RankFlight>& ranks) {
  std::map<GroupKey, Group> groups;
  for (const RankFlight& rank : ranks)
    for (const FlightEntry& entry : rank.entries)
      groups[key_of(entry)][rank.rank][entry.sequence] = &entry;
  Difference first;
  for (const auto& [key, group] : groups) {
    auto found = difference_in(key, group);
    if (found && found->since < first.since) first = std::move(*found);
  }
  return first.text;
}

std::string flight_text(const std::vector<RankFlight>& ranks, const std::string& cause) {
  std::string text = fmt::format("The last collectives of the ranks of this host.\nThe run: {}\n",
                                 cause.empty() ? "no cause is known" : cause);
  const std::string difference = first_difference(ranks);
  text += difference.empty() ? "The ranks are in the same collectives.\n"
                             : fmt::format("They differ first at {}\n", difference);
  text +=
      "waiting: not all ranks have come to it; moving: data flows. # counts in its group, whose "
      "name ends with its first rank. Times are UTC.\n";
  for (const RankFlight& rank : ranks) {
    text += fmt::format("\nrank {}{}\n", rank.rank, rank.entries.empty() ? ": none" : "");
    for (const FlightEntry& entry : rank.entries) {
      const double took = entry.ended > 0 ? (entry.ended - entry.posted) * 1e3 : 0;
      text += fmt::format("  {}  {:>12}.{:<4} #{:<8} {:<8} {:>10}  {}\n", moment(entry.posted),
                          entry.group.data(), entry.first_member, entry.sequence, state_of(entry),
                          entry.ended > 0 ? fmt::format("{:.1f} ms", took) : "", text_of(entry));
    }
  }
  return text;
}

std::string flight_file(const std::string& run_dir) { return run_dir + "/collectives.txt"; }

}  // namespace heddle::launch
