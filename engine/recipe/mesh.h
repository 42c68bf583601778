// The ranks as a mesh of five dimensions, and the groups of ranks along them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/recipe/recipe.h"

namespace heddle::recipe {

/// Dimensions of the mesh as bits, outer to inner: what differs in one of them by 1 is far apart
/// for pp and next door for tp (TorchTitan's order).
using Dims = unsigned;
inline constexpr Dims kPp = 1, kReplicate = 2, kShard = 4, kCp = 8, kTp = 16;
inline constexpr size_t kDimensions = 5;

/// Ranks that share a parameter: each holds a shard of it.
inline constexpr Dims kSharing = kShard | kCp;
/// Ranks that work on different tokens.
inline constexpr Dims kTokens = kReplicate | kShard | kCp;
/// Ranks that together hold each parameter once.
inline constexpr Dims kModel = kPp | kSharing | kTp;
/// Ranks of one pipeline stage, which have one program.
inline constexpr Dims kStage = kTokens | kTp;
inline constexpr Dims kWorld = kModel | kReplicate;

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
  Mesh() = default;
  /// Takes a resolved recipe's.
  explicit Mesh(const Parallelism& parallelism);

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
  std::array<int64_t, kDimensions> sizes_{1, 1, 1, 1, 1};
};

}  // namespace heddle::recipe
