#include "engine/cost/exposed.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"

namespace heddle::cost {
namespace {

Why why(const graph::Node& node, const Transferred& transfer) {
  const double queued = transfer.moving.begin - transfer.started;
  if (queued > transfer.exposed / 2) return Why::link_is_busy;
  if (graph::is_all_gather(node))
    return transfer.idle_link > transfer.exposed / 2 ? Why::gathers_in_flight
                                                     : Why::compute_is_shorter;
  // A transfer with hardly any compute next to it is needed as soon as it arrives.
  return transfer.beside < transfer.moving.length() / 10 ? Why::dependency
                                                         : Why::compute_is_shorter;
}

}  // namespace

std::vector<ExposedTransfer> exposed_transfers(const graph::Graph& planned,
                                               const Simulated& simulated) {
  std::vector<ExposedTransfer> exposed;
  for (size_t i = 0; i < simulated.transfers.size(); ++i) {
    const Transferred& transfer = simulated.transfers[i];
    if (transfer.exposed > 0)
      exposed.push_back({i, transfer.exposed, why(planned.nodes[i], transfer)});
  }
  std::stable_sort(exposed.begin(), exposed.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return exposed;
}

std::string in_words(Why why, const Transferred& transfer) {
  switch (why) {
    case Why::compute_is_shorter:
      return fmt::format("the compute next to it is shorter: {} hide a transfer of {} in part",
                         seconds_text(transfer.beside), seconds_text(transfer.moving.length()));
    case Why::dependency:
      return "a dependency: what it moves is made just before its result is needed";
    case Why::gathers_in_flight:
      return fmt::format(
          "the limit on gathers in flight: the link had nothing to do for {} before it was started",
          seconds_text(transfer.idle_link));
    case Why::link_is_busy:
      return fmt::format("the link is busy: it waits {} for other transfers to end",
                         seconds_text(transfer.moving.begin - transfer.started));
  }
  return {};
}

}  // namespace heddle::cost
