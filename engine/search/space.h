// The layouts that a recipe can be run in: the candidates of a search.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/recipe/recipe.h"

namespace heddle::search {

/// The keys that a search decides; all others stay the recipe's.
struct Choice : recipe::Degrees {
  recipe::ContextMode cp_mode = recipe::ContextMode::allgather;
  recipe::PipelineSchedule schedule = recipe::PipelineSchedule::one_f_one_b;
  int64_t sequences = 1;      // of a micro-batch
  int64_t micro_batches = 1;  // of a data-parallel rank in a step
  bool reshard = true;        // gathered parameters are freed after forward
  bool gather_again = true;   // tensor-parallel inputs, for backward
  recipe::RecomputeMode recompute = recipe::RecomputeMode::none;
  double budget = 0;                             // of that mode; 0 in the others
  std::vector<recipe::Override> overrides = {};  // layers that are recomputed in another way

  bool operator==(const Choice&) const = default;
};

/// The question to a search.
struct Question {
  recipe::Recipe written;       // as given, not resolved: the base of `sets_of`
  recipe::Recipe recipe;        // resolved, with its vocabulary's size and the global batch
  std::string hardware;         // a name of the catalogue, or this machine's
  int64_t ranks = 1;            // to be used, all of them
  int64_t memory_limit = 0;     // of a rank; 0: all that the device has
  std::set<std::string> fixed;  // keys that stay as the recipe has them
};

/// The recipe in this layout, not resolved again.
recipe::Recipe with(const recipe::Recipe& recipe, const Choice& choice);

/// Data parallelism alone: each of the ranks has a shard.
Choice sharded_over(int64_t ranks);

/// A recipe's own.
Choice choice_of(const recipe::Recipe& resolved);

/// The changes, as key=value, that turn the given recipe into the one in this layout. They always
/// name the keys of the mesh and of the batch: one that a recipe leaves open depends on the others.
std::vector<std::string> sets_of(const Question& question, const Choice& choice);

/// "tp 8 × dp_shard 32, 2 sequences at a time, full recomputation"
std::string words_of(const Choice& choice);

/// Calls `each` with every layout whose numbers divide as `resolve` asks for. Left out is what no
/// rank is better off with: more than 32,768 tokens at a time where one sequence has fewer, which
/// take memory and make products no faster; fewer than 256 of a sequence that is cut, which leave
/// it idle; and several sequences cut over ranks that could have had whole ones. Recomputation is
/// none, selective or full; `refine.h` finds mixtures of them.
void enumerate(const Question& question, const std::function<void(const Choice&)>& each);

}  // namespace heddle::search
