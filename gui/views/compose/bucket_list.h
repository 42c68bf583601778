// The recipe's buckets as they are drawn, and their edges as TOML. No widgets.
#pragma once

#include <QList>
#include <QString>
#include <string>
#include <vector>

#include "engine/plan/document.h"
#include "engine/recipe/recipe.h"

namespace heddle::gui {

/// A model's outermost modules in order: tok_embeddings, layers.0 …, norm, output.
int outerModules(const recipe::Model& model);
/// "layers.3" of 4.
QString outerName(const recipe::Model& model, int module);
/// The names of a run of them for people: "layers 0–3", "layer 3 · norm".
QString runTitle(const recipe::Model& model, int first, int last);

struct Bucket {
  QString name;                      // "layers 2–3"
  std::vector<std::string> modules;  // one by one, as the plan's bucket has them
  qint64 elements = 0;               // of the whole parameters that its modules read; 0: not known
  QList<qint64> gathered;  // bytes by pipeline rank; empty: not known, or nothing is gathered
  int first = 0;           // the outer modules that it reaches into
  int last = 0;
  double gatherSeconds = 0;   // predicted; 0: not known, or nothing is gathered
  double exposedSeconds = 0;  // of all its transfers in a step

  /// Bytes on the pipeline rank that gathers most of it; 0: none.
  qint64 mostGathered() const;
};

struct BucketList {
  bool known = true;  // false: mode auto; the plan will group these
  bool movable =
      false;  // each bucket is a run of whole outer modules, in order: its edges can move
  QList<Bucket> buckets;

  /// Whether it is known of any how long its gather takes.
  bool isTimed() const;
  /// Whether there is an edge that can be dragged.
  bool hasEdges() const { return movable && buckets.size() > 1; }
};

/// Where the grouping comes from, and how to change it.
QString groupingWords(recipe::WrappingMode mode, const BucketList& list);

/// The buckets of a resolved recipe; modules that do not exist are left out. `sound`: its model and
/// mesh have no faults and its vocabulary is filled in, so that sizes follow.
BucketList bucketsOf(const recipe::Recipe& recipe, bool sound);

/// Takes what the plan of the same recipe says of them; where the recipe leaves the buckets to the
/// plan they are the plan's. `model` is the recipe's.
void addPredicted(BucketList& list, const plan::Document& document, const recipe::Model& model);

/// The TOML of `wrapping.buckets` for runs of outer modules, each given by its first; a line each.
QString bucketsToml(const recipe::Model& model, const QList<int>& firsts);

}  // namespace heddle::gui
