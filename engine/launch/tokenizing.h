// The process that tokenizes a run's texts on its host while the ranks train already.
#pragma once

#include <string>
#include <vector>

#include "base/process_id.h"
#include "base/result.h"
#include "engine/data/store_use.h"
#include "engine/recipe/recipe.h"

namespace heddle::launch {

/// Runs until the token stores are whole, at most as long as this exists: what is not tokenized
/// then is tokenized by the next run. So long the stores are in use. It writes to tokenize.err of
/// the run directory; the ranks, which wait for its tokens, report its errors.
class Tokenizing {
 public:
  /// Starts it where there is something to tokenize. What is wrong with the texts is left to the
  /// ranks, who tell where in the recipe it is.
  static Result<Tokenizing> start(const recipe::Recipe& recipe, const std::string& engine,
                                  const std::string& run_dir);
  Tokenizing() = default;
  Tokenizing(Tokenizing&& other) noexcept
      : id_(std::exchange(other.id_, {})), uses_(std::move(other.uses_)) {}
  Tokenizing& operator=(Tokenizing&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(uses_, other.uses_);
    return *this;
  }
  ~Tokenizing();

 private:
  ProcessId id_;  // pid 0: there is none
  std::vector<data::StoreUse> uses_;
};

}  // namespace heddle::launch
