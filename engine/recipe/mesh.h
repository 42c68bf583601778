// The ranks as a mesh, and the groups of ranks along its axes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/recipe/axes.h"

namespace heddle::recipe {

/// The dimensions along which there are process groups. Several may have the same ranks, and so
/// be one group.
inline constexpr std::array kGroups = {
    kSharing, kReplicate, kReplicate | kTp, kTokens, kTokens | kPp, kModel, kCp,
    kTp,      kPp,        kStage,           kWorld};

/// The group of the two ranks of a pipeline that take activations from stage `from` to stage `to`,
/// which come one after the other, or their gradients the other way.
std::string transfer_group(int64_t from, int64_t to);
/// The group of the two ranks that have the first and the last stage.
inline constexpr const char* kEndsGroup = "pp ends";

class Mesh {
 public:
  /// One rank.
  Mesh() : Mesh(keep_degrees({}, 0)) {}
  /// Takes a resolved recipe's.
  explicit Mesh(const Degrees& degrees);

  /// The number of ranks of a group along `dims`.
  int64_t size(Dims dims = kWorld) const;
  /// A rank's number within its group along `dims`.
  int64_t index(int64_t rank, Dims dims) const;
  /// The group that `rank` is in, in the order of `index`.
  std::vector<int> group(int64_t rank, Dims dims) const;
  /// The group's name, the same for the same ranks: the dimensions that have more than one rank,
  /// "dp_replicate+dp_shard"; empty for a rank alone.
  std::string name(Dims dims) const;

 private:
  std::array<int64_t, kAxes.size()> sizes_;
};

}  // namespace heddle::recipe
