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
  if (!page && !latest) return {rank, false, 0, {}};
  if (!page) return {rank, true, latest->sequence, to_string(*latest)};
  const uint32_t posted = page->posted.load(std::memory_order_acquire);
  RankReport report{rank, posted > 0, 0, {}};
  for (uint32_t mark = posted - std::min(posted, kListed); mark < posted; ++mark) {
    const Descriptor& descriptor = page->slots[mark % kSlots];
    report.last += (report.last.empty() ? "" : ", ") + to_string(descriptor);
    report.sequence = descriptor.sequence;
  }
  return report;
}

std::string timeout_text(const std::string& group, const Descriptor& waited_for,
                         std::chrono::milliseconds timeout, const std::vector<RankReport>& ranks) {
  const auto behind =
      std::min_element(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) {
        return a.started != b.started ? b.started : a.sequence < b.sequence;
      });
  std::string text =
      fmt::format("{} of group {} has not ended after {:g} s: rank {} lags", to_string(waited_for),
                  group, std::chrono::duration<double>(timeout).count(), behind->rank);
  text += "; last collectives:";
  for (const RankReport& rank : ranks)
    text += fmt::format(" rank {}: {};", rank.rank, rank.started ? rank.last : "none");
  text.pop_back();
  return text;
}

}  // namespace heddle::transport
