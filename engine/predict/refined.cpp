#include "engine/predict/refined.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <memory>

#include "base/host_name.h"
#include "base/own_program.h"
#include "base/plain_file.h"

namespace heddle::predict {
namespace {

std::string build_here() {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  XXH3_64bits_reset(state.get());
  // Piece by piece: the whole file would count in the rank's peak.
  constexpr size_t kPiece = 1 << 16;
  if (auto file = PlainFile::open_existing(own_program()))
    for (auto piece = file->read(kPiece); piece && !piece->empty(); piece = file->read(kPiece))
      XXH3_64bits_update(state.get(), piece->data(), piece->size());
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
