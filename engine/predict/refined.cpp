#include "engine/predict/refined.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <fstream>
#include <memory>

#include "base/host_name.h"
#include "base/own_program.h"

namespace heddle::predict {
namespace {

std::string build_here() {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  XXH3_64bits_reset(state.get());
  // Piece by piece: the whole file would count in the rank's peak.
  std::ifstream file(own_program(), std::ios::binary);
  std::array<char, 1 << 16> piece{};
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0)
    XXH3_64bits_update(state.get(), piece.data(), static_cast<size_t>(file.gcount()));
  return fmt::format("{} {:016x}", HEDDLE_VERSION, XXH3_64bits_digest(state.get()));
}

}  // namespace

cost::RunPlace place_here(const std::string& device, int64_t local_ranks, int64_t threads) {
  static const std::string build = build_here();
  return {.host = host_name(),
          .device = device,
          .build = build,
          .local_ranks = local_ranks,
          .threads = threads,
          .since = cost::calibrated_here(device)};
}

cost::Refinement refinement_at(const cost::RunPlace& place) {
  return cost::refinement_of(cost::read_checks(cost::checks_file()), place);
}

}  // namespace heddle::predict
