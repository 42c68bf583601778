#include "engine/transport/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::transport {
namespace {

constexpr uint32_t kListed = 3;

}  // namespace

std::string mismatch_text(const std::string& group, int rank_a, const Descriptor& a, int rank_b,
                          const Descriptor& b) {
  return fmt::format(
      "the ranks of group {} disagree at collective {}: rank {} is in {}, rank {} in {}", group,
      a.sequence, rank_a, to_string(a), rank_b, to_string(b));
}

RankReport report_of(int rank, const ControlPage* page, const std::optional<Descriptor>& latest) {
  if (!page && !latest) return {.rank = rank};
  if (!page)
    return {
        .rank = rank, .started = true, .sequence = latest->sequence, .last = to_string(*latest)};
  const uint32_t posted = page->posted.load(std::memory_order_acquire);
  RankReport report{.rank = rank, .started = posted > 0};
  for (uint32_t mark = posted - std::min(posted, kListed); mark < posted; ++mark) {
    const Descriptor& descriptor = page->slots[mark % kSlots];
    report.last += (report.last.empty() ? "" : ", ") + to_string(descriptor);
    report.sequence = descriptor.sequence;
  }
  return report;
}

RankReport report_of(int rank, const std::optional<Progress>& progress) {
  if (!progress || progress->entries.empty()) return {.rank = rank};
  const Descriptor* at = progress->stalled();
  const uint64_t last = at ? at->sequence : progress->entries.back().sequence;
  RankReport report{.rank = rank, .started = true, .sequence = last};
  for (const Descriptor& entry : progress->entries)
    if (entry.sequence <= last && entry.sequence + kListed > last)
      report.last += (report.last.empty() ? "" : ", ") + to_string(entry);
  return report;
}

std::string mismatch_text(const std::string& group, const std::vector<int>& ranks,
                          const std::vector<std::optional<Progress>>& all) {
  std::optional<std::pair<Descriptor, size_t>> first_a, first_b;
  for (size_t a = 0; a < all.size(); ++a)
    for (size_t b = a + 1; b < all.size(); ++b) {
      if (!all[a] || !all[b]) continue;
      for (const Descriptor& left : all[a]->entries)
        for (const Descriptor& right : all[b]->entries)
          if (left.sequence == right.sequence && !agree(left, right) &&
              (!first_a || left.sequence < first_a->first.sequence)) {
            first_a = {left, a};
            first_b = {right, b};
          }
    }
  if (!first_a) return {};
  return mismatch_text(group, ranks[first_a->second], first_a->first, ranks[first_b->second],
                       first_b->first);
}

std::string timeout_text(const std::string& group, const Descriptor& waited_for,
                         std::chrono::milliseconds timeout, const std::vector<RankReport>& ranks) {
  const auto behind =
      std::min_element(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) {
        if (a.process.empty() != b.process.empty()) return b.process.empty();
        return a.started != b.started ? b.started : a.sequence < b.sequence;
      });
  const bool all_there = std::ranges::all_of(ranks, [&](const RankReport& rank) {
    return rank.started && rank.process.empty() && rank.sequence == behind->sequence;
  });
  std::string text =
      fmt::format("{} of group {} has not ended after {:g} s: ", to_string(waited_for), group,
                  std::chrono::duration<double>(timeout).count());
  text += all_there ? "all ranks have come to it" : fmt::format("rank {} lags", behind->rank);
  if (!behind->process.empty()) text += fmt::format(" ({})", behind->process);
  text += "; last collectives:";
  for (const RankReport& rank : ranks)
    text += fmt::format(" rank {}: {};", rank.rank, rank.started ? rank.last : "none");
  text.pop_back();
  return text;
}

}  // namespace heddle::transport
