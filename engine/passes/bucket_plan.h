// Which parameters are gathered, and their gradients scattered, together.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/graph/ir.h"

namespace heddle::passes {

/// One bucket: modules, each standing for itself and all below it.
struct Bucket {
  std::string name;  // "layers.3", "layers.0-7", "norm+output": in timelines and messages
  std::vector<std::string> modules;
};
using BucketPlan = std::vector<Bucket>;

/// The name of a bucket of these modules: the only one, or first+last.
std::string bucket_name(const std::vector<std::string>& modules);

/// Names the buckets of a plan of single modules: blocks that are in a bucket with all that the
/// plan has of them by their numbers ("layers.0-7", "layers.8-9+norm"), as a recipe writes them. At
/// most three parts are named: of more the first and the last.
void name_buckets(BucketPlan& plan);

/// The modules whose parameters the graph gathers, in the order in which forward reads them.
std::vector<std::string> gathered_modules(const graph::Graph& graph);

/// The repeated part of the model that a module is in: "layers.3" for "layers.3.attention.wq";
/// empty for "norm".
std::string_view block_of(std::string_view module);

/// Each parameter by itself.
BucketPlan one_each(const graph::Graph& graph);
/// Each block one bucket, and everything between blocks one bucket a run of modules.
BucketPlan by_block(const graph::Graph& graph);

/// Finds a module's bucket.
class BucketIndex {
 public:
  explicit BucketIndex(const BucketPlan& plan);
  /// The bucket of the module or of its nearest parent that is in one; -1 if there is none.
  int find(graph::Name module);

 private:
  int look_up(std::string_view module) const;

  std::unordered_map<std::string, int> buckets_;
  std::unordered_map<graph::Name, int> found_;
};

}  // namespace heddle::passes
