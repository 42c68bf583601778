// How the checks of `resolve` report: shared by resolve.cpp and its parts, resolve_*.cpp.
#pragma once

#include <string>
#include <vector>

#include "engine/recipe/parse.h"

namespace heddle::recipe {

class Checks {
 public:
  explicit Checks(Parsed& parsed);

  /// A fault at the place of the first of `keys` that is written; it carries that key, or the
  /// first.
  void fault(const std::vector<std::string>& keys, std::string what, std::string valid,
             std::string suggestion = "");
  /// A fault at one element, whose place is under another name than its key.
  void fault_at(const std::string& place, const std::string& key, std::string what,
                std::string valid, std::string suggestion = "");
  /// None of the keys has a fault already: what follows from one fault is not reported.
  bool sound(const std::vector<std::string>& keys) const;

 private:
  Parsed& parsed_;
};

/// Names of modules against the model's: of buckets, of exceptions, of what float8 leaves out.
void check_names(const Parsed& parsed, Checks& checks);

/// Keys of other optimizers that are written.
void check_optimizer(const Parsed& parsed, Checks& checks);

/// Fills the degree that takes the remaining ranks and checks that the degrees multiply to the
/// ranks. False if nothing can follow.
bool check_mesh(Recipe& recipe, Checks& checks);

/// Whether the degrees divide heads, sequences, layers and batches. After check_mesh.
void check_cuts(Recipe& recipe, Checks& checks);

/// Whether products in 8 bits can be made of what there is. After the mesh's checks.
void check_float8(const Recipe& recipe, Checks& checks);

}  // namespace heddle::recipe
