// The axes of the mesh of ranks: one row each, outermost first. The recipe's keys, the mesh, the
// search and Compose loop over this table; code names an axis only for what that axis alone does.
//
// To add one: a degree, a dimension and a row here. It can then be written in a recipe, has its
// place in the mesh, is searched and drawn. The code that gives it a meaning is in other folders:
// docs/architecture.md lists it.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::recipe {

/// The number of ranks along each axis, as [parallelism] has it.
struct Degrees {
  int64_t pp = 1;
  int64_t dp_replicate = 1;
  int64_t dp_shard = -1;  // -1: the ranks that the others leave
  int64_t cp = 1;
  int64_t tp = 1;
  auto operator<=>(const Degrees&) const = default;
};

/// Dimensions of the mesh as bits, outer to inner: ranks that differ by 1 in one of them are far
/// apart for pp and next door for tp (TorchTitan's order).
using Dims = unsigned;
inline constexpr Dims kPp = 1, kReplicate = 2, kShard = 4, kCp = 8, kTp = 16;

/// The work that ranks along an axis divide, the coarsest cut first: a search decides in this
/// order, and samples take the ranks that the cuts of the model leave.
enum class Divides : uint8_t { layers, matrices, sequences, samples };

struct Axis {
  Dims dim;
  std::string_view name;   // the key in [parallelism], and the name of its groups
  std::string_view brief;  // where there is little room
  int64_t Degrees::*degree;
  Divides divides;
  bool shards = false;      // its ranks hold shards of the same parameters
  bool takes_rest = false;  // -1: the ranks that the others leave; one axis only
  int written = 0;          // its place in the recipe's text, in forms and in sentences
  int color = 0;            // in drawings of the mesh: a slot of the colours of runs
  std::string_view help;    // for people

  std::string key() const { return "parallelism." + std::string(name); }
};

inline constexpr std::array kAxes = {
    Axis{.dim = kPp,
         .name = "pp",
         .brief = "pp",
         .degree = &Degrees::pp,
         .divides = Divides::layers,
         .written = 3,
         .color = 1,
         .help = "Pipeline parallelism: the layers are cut into stages, one after the other."},
    Axis{.dim = kReplicate,
         .name = "dp_replicate",
         .brief = "rep",
         .degree = &Degrees::dp_replicate,
         .divides = Divides::samples,
         .written = 0,
         .color = 3,
         .help = "Copies of the model that each work on other data."},
    Axis{.dim = kShard,
         .name = "dp_shard",
         .brief = "dp",
         .degree = &Degrees::dp_shard,
         .divides = Divides::samples,
         .shards = true,
         .takes_rest = true,
         .written = 1,
         .color = 2,
         .help =
             "Ranks over which parameters, gradients and optimizer states are sharded; -1: what "
             "is left of the ranks."},
    Axis{.dim = kCp,
         .name = "cp",
         .brief = "cp",
         .degree = &Degrees::cp,
         .divides = Divides::sequences,
         .shards = true,
         .written = 4,
         .color = 4,
         .help = "Context parallelism: each sequence is cut over so many ranks."},
    Axis{.dim = kTp,
         .name = "tp",
         .brief = "tp",
         .degree = &Degrees::tp,
         .divides = Divides::matrices,
         .written = 2,
         .color = 0,
         .help = "Tensor parallelism: each matrix is cut over so many ranks."}};

/// The same rows in the order of the recipe's text, and in the order in which a search decides.
inline constexpr auto kAxesAsWritten = [] {
  std::array<const Axis*, kAxes.size()> sorted{};
  for (size_t i = 0; i < kAxes.size(); ++i) sorted[i] = &kAxes[i];
  std::ranges::sort(sorted, {}, [](const Axis* axis) { return axis->written; });
  return sorted;
}();
inline constexpr auto kAxesAsSearched = [] {
  auto sorted = kAxesAsWritten;
  std::ranges::sort(sorted, {}, [](const Axis* axis) {
    return std::pair{axis->divides, axis->written};
  });
  return sorted;
}();

template <typename Is>
constexpr Dims dims_where(Is is) {
  Dims dims = 0;
  for (const Axis& axis : kAxes)
    if (is(axis)) dims |= axis.dim;
  return dims;
}

/// The axis that takes the ranks that the others leave.
inline constexpr const Axis& kRest = *std::ranges::find_if(kAxes, &Axis::takes_rest);

inline constexpr Dims kWorld = dims_where([](const Axis&) { return true; });
/// Ranks that share a parameter: each holds a shard of it.
inline constexpr Dims kSharing = dims_where([](const Axis& axis) { return axis.shards; });
/// Ranks that work on different samples: copies of the model, sharded or not.
inline constexpr Dims kSamples =
    dims_where([](const Axis& axis) { return axis.divides == Divides::samples; });
/// Ranks that work on different tokens.
inline constexpr Dims kTokens =
    kSamples | dims_where([](const Axis& axis) { return axis.divides == Divides::sequences; });
/// Ranks of one pipeline stage, which have one program.
inline constexpr Dims kStage =
    dims_where([](const Axis& axis) { return axis.divides != Divides::layers; });
/// Ranks of one stage that work on the same samples.
inline constexpr Dims kMicroBatch = kStage & ~kSamples;
/// Ranks that together hold each parameter once.
inline constexpr Dims kModel =
    dims_where([](const Axis& axis) { return axis.divides != Divides::samples || axis.shards; });

/// The keys of the axes in `dims`, as the recipe orders them.
std::vector<std::string> keys_along(Dims dims);

/// The degrees along `dims`, and 1 along the others.
Degrees keep_degrees(const Degrees& degrees, Dims dims);

/// The degrees as a list in the mesh's order, and back; nothing unless it has one for each axis.
std::vector<int64_t> list_degrees(const Degrees& degrees);
std::optional<Degrees> degrees_of(const std::vector<int64_t>& list);

/// "pp 2 × dp_shard 4": the degrees above 1, outermost first; "one rank" without any.
std::string degrees_text(const Degrees& degrees);

}  // namespace heddle::recipe
