// Why compute waits for a transfer.
#pragma once

#include <string>
#include <vector>

#include "engine/cost/simulate.h"

namespace heddle::cost {

enum class Why {
  compute_is_shorter,  // all of the compute there is between its start and its wait hid it
  dependency,          // what it moves was made only just before it is needed
  gathers_in_flight,   // it could have been started earlier, while the link had nothing to do
  link_is_busy,        // it had to wait for other transfers
};

/// A collective that compute waits for.
struct ExposedTransfer {
  size_t node = 0;  // of the rank's planned graph
  double seconds = 0;
  Why why = Why::compute_is_shorter;
};

/// The exposed transfers of a simulated step, the longest first.
std::vector<ExposedTransfer> exposed_transfers(const graph::Graph& planned,
                                               const Simulated& simulated);

/// The reason in a sentence, with the numbers of this transfer.
std::string in_words(Why why, const Transferred& transfer);

}  // namespace heddle::cost
