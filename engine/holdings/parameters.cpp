#include "engine/holdings/parameters.h"

#include "engine/holdings/box.h"
#include "engine/holdings/hugging_face_names.h"
#include "engine/recipe/float8.h"

namespace heddle::holdings {
namespace {

/// Groups that sum a parameter's gradient: a pipeline's first and last stages if they share it, the
/// replicas, and the tensor-parallel ranks if they see different tokens or heads.
std::vector<std::string> sums(const recipe::Recipe& recipe, const recipe::Layout& layout,
                              const recipe::Parameter& parameter) {
  std::vector<std::string> groups;
  const bool is_end = parameter.module == "tok_embeddings" || parameter.module == "output";
  if (layout.ends_apart() && is_end) groups.emplace_back(recipe::kEndsGroup);
  const bool whole = parameter.cut == recipe::Cut::none;
  const bool apart = whole && (recipe.parallelism.sequence_parallel || parameter.is_of_heads);
  const recipe::Dims dims = recipe::kReplicate | (apart ? recipe::kTp : 0);
  if (layout.mesh().size(dims) > 1) groups.push_back(layout.mesh().name(dims));
  return groups;
}

}  // namespace

std::vector<Parameter> parameters_of(const recipe::Recipe& recipe, const recipe::Layout& layout,
                                     const std::vector<recipe::Parameter>& parameters) {
  const recipe::Mesh& mesh = layout.mesh();
  const recipe::Float8Layers float8(recipe.precision, recipe.model.tied_embeddings);
  const UpdateRules rules(recipe);
  const int64_t shards = mesh.size(recipe::kSharing);
  std::vector<Parameter> rows;
  rows.reserve(parameters.size());
  for (const recipe::Parameter& parameter : parameters) {
    Parameter row(parameter);
    row.local = recipe::local_shape(row.shape, row.cut, mesh.size(recipe::kTp));
    row.shard = row.local;
    row.shard[0] = shard_rows(row.local[0], shards);
    row.shared_by = recipe::kReplicate | (row.is_cut() ? 0 : recipe::kTp);
    row.summed_over = sums(recipe, layout, parameter);
    row.stage = layout.stage_of(row.module);
    if (recipe.model.tied_embeddings && row.module == "output")
      row.copy_of = "tok_embeddings.weight";
    row.eight_bits = shards > 1 && float8.gathers(row.module, row.shape.size());
    row.rule = rules.of(row.name());
    row.hugging_face_name = hugging_face_name(parameter);
    if (row.is_rotated) row.head_dim = recipe.model.head_size();
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Parameter> parameters_of(const recipe::Recipe& recipe, const recipe::Layout& layout) {
  return parameters_of(
      recipe, layout,
      layout.ends_apart() ? recipe::reads(recipe.model) : recipe::parameters(recipe.model));
}

std::vector<Parameter> parameters_of(const recipe::Model& model) {
  recipe::Recipe alone;
  alone.model = model;
  alone.parallelism.dp_shard = 1;
  return parameters_of(alone, recipe::Layout(alone));
}

}  // namespace heddle::holdings
