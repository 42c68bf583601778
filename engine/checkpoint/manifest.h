// A checkpoint's manifest.json: which tensors there are, which file holds which part of
// them, and the hashes of it all.
//
// The text begins with {"hash":"…", the XXH3-128 of the text with zeros for the digits; every
// format keeps that. So a changed byte is found anywhere, and a newer format differs from damage.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "engine/holdings/box.h"
#include "engine/recipe/recipe.h"

namespace heddle::checkpoint {

inline constexpr int64_t kFormat = 2;
inline constexpr const char* kManifest = "manifest.json";

/// Hashes are of pieces of so many bytes of a shard (the last one may be shorter): who reads a part
/// of a shard reads, and verifies, hardly more.
inline constexpr int64_t kHashedBytes = int64_t{4} << 20;

/// The limits of a manifest: 405B by 1,024 ranks takes some millions of shards and hashes.
inline constexpr Budget kManifestBudget{
    .bytes = size_t{1} << 30, .values = 50'000'000, .depth = 16};

/// A part of a tensor: fp32, row by row, from `offset` of the file on.
struct Shard {
  std::string file;
  int64_t offset = 0;
  holdings::Box box;
  std::vector<std::string> hashes;

  int64_t bytes() const { return box.rows() * box.columns() * holdings::kStoredNumber; }
  bool operator==(const Shard&) const = default;
};

struct StoredTensor {
  std::vector<int64_t> shape;
  std::vector<Shard> shards;
  bool operator==(const StoredTensor&) const = default;
};

/// A safetensors file: its header is what comes before the tensors.
struct StoredFile {
  std::string host;  // that wrote it
  int64_t bytes = 0;
  int64_t header_bytes = 0;
  std::string header_hash;
  bool operator==(const StoredFile&) const = default;
};

/// The output of one rank, or of all ranks together.
struct Contents {
  std::map<std::string, StoredFile> files;
  std::map<std::string, StoredTensor> tensors;  // "layers.0.attention.wq.weight.exp_avg", …

  /// Takes over another rank's. What two ranks have written alike counts once.
  void add(Contents other);
  bool operator==(const Contents&) const = default;
};

/// Beside what is read back, the text shows the recipe's settings by section (layout, optimizer,
/// schedule, seeds …).
struct Manifest {
  int64_t format = kFormat;
  std::string engine;     // version that wrote it
  int64_t step = 0;       // steps done
  int64_t samples = 0;    // samples read: where the data goes on
  int64_t since = 0;      // of them so many first ones of other texts, or in another order
  recipe::Recipe recipe;  // resolved; of converted weights only the model
  Contents contents;
};

std::string to_text(const Manifest& manifest);

/// An error says that the text is damaged, or what in it cannot be. Of a newer format only `format`
/// is read.
Result<Manifest> parse_manifest(std::string_view text);

/// Whether the tensors of `stored` fit a model: an error says which of the numbers that make
/// their shapes differ, and what may be another all the same.
Result<> check_fit(const recipe::Model& stored, const recipe::Model& model);

/// Whether an optimizer can go on from the states of another: the same one, with the same states.
Result<> check_optimizer(const recipe::Optimizer& stored, const recipe::Optimizer& now);

std::string to_text(const Contents& contents);
Result<Contents> parse_contents(std::string_view text);

}  // namespace heddle::checkpoint
