// A recipe's data before anything trains: sizes, how often the run reads it, samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recipe/recipe.h"

namespace heddle::data {

/// Where numbers are from: a token store that is whole, or a file of tokens; or they are guessed by
/// the first megabytes of a text.
enum class Known { counted, guessed };

/// One of recipe::sources_of.
struct DescribedSource {
  std::string name;
  double share = 1;  // of the samples, by its weight
  int64_t files = 0;
  int64_t bytes = 0;  // of the files, as they are
  Known known = Known::counted;
  int64_t tokens = 0;
  std::optional<int64_t> documents = {};     // none: a file of tokens does not say
  int64_t skipped = 0;                       // documents that cannot be read, of those looked at
  std::vector<std::string> complaints = {};  // the first of them: FILE:LINE: why
  double epochs = 0;                         // how often the run reads it
};

/// A sample as the model sees it, its special tokens as text.
struct DescribedSample {
  size_t source = 0;
  int64_t tokens = 0;
  bool whole = true;                        // not cut here
  std::vector<std::string> documents = {};  // its parts, each of another document
};

struct Description {
  std::vector<DescribedSource> sources;
  int64_t run_tokens = 0;  // that all steps read
  std::vector<DescribedSample> samples;
  std::string parting = {};   // what parts documents; "": nothing does
  bool first_of_run = false;  // they are what its first steps read; else the first of the texts
  std::vector<std::string> notes;  // what is worth saying: what is left out, what is too little
  Known known() const;
  int64_t tokens() const;  // of all sources
  std::optional<int64_t> documents() const;
  double epochs() const;  // run_tokens by tokens
};

/// Reads totals of token stores, and where there are none some megabytes of each text; makes no
/// store. `recipe` as after load_recipe. Errors begin with the recipe key.
Result<Description> describe(const recipe::Recipe& recipe);

}  // namespace heddle::data
