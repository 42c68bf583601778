// One sequence of tokens, wherever it is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "engine/data/store_progress.h"
#include "engine/data/token_store.h"
#include "engine/recipe/recipe.h"

namespace heddle::data {

/// Threads: any.
class TokenSource {
 public:
  virtual ~TokenSource() = default;

  struct Known {
    int64_t tokens = 0;
    bool all = true;  // there will be no more
  };
  /// Waits until so many tokens are there, or all.
  virtual Result<Known> await(int64_t tokens) = 0;
  /// The files that are left out of its folders, in words; empty: none.
  virtual std::string left_out() const { return {}; }
  /// How far it is, where it is being made.
  virtual std::optional<StoreProgress> progress() const { return std::nullopt; }
  /// The ids from `at` on, which are there; a flag for each where a document begins, where that is
  /// known.
  virtual Result<> read(int64_t at, std::span<int64_t> ids, std::span<uint8_t> begins) const = 0;
};

/// The store of the recipe's texts, which somebody builds or has built.
Result<std::unique_ptr<TokenSource>> open_text(const recipe::Data& data, Part part);

/// `data.token_ids`, whose steps have the recipe's shape; no id reaches `vocab_size`.
Result<std::unique_ptr<TokenSource>> open_token_ids(const recipe::Data& data, int64_t global_batch,
                                                    int64_t vocab_size);

}  // namespace heddle::data
