// Checkpoints of a small model, written and read by the ranks of any layout, one after the other in
// this process. Every number is a function of its tensor, its place and the step.
#pragma once

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/checkpoint/hash.h"
#include "engine/checkpoint/hugging_face.h"
#include "engine/checkpoint/rank_file.h"
#include "engine/checkpoint/reader.h"
#include "engine/checkpoint/step_folders.h"
#include "engine/holdings/states.h"

namespace small {

using namespace heddle;

struct Layout {
  int64_t dp_replicate = 1, dp_shard = 1, cp = 1, tp = 1;
};

/// 14 rows of a norm and 12 of the vocabulary divide by few numbers of ranks.
inline recipe::Recipe recipe_of(const Layout& layout = {}) {
  recipe::Recipe recipe;
  recipe.model.dim = 14;
  recipe.model.n_layers = 2;
  recipe.model.n_heads = recipe.model.n_kv_heads = 1;
  recipe.model.ffn_dim = 20;
  recipe.model.vocab_size = 12;
  recipe.parallelism.dp_replicate = layout.dp_replicate;
  recipe.parallelism.dp_shard = layout.dp_shard;
  recipe.parallelism.cp = layout.cp;
  recipe.parallelism.tp = layout.tp;
  return recipe;
}

inline float number_of(const std::string& tensor, int64_t place, int64_t step) {
  const std::string digits =
      checkpoint::hash_of(tensor + " " + std::to_string(place) + " " + std::to_string(step));
  return static_cast<float>(std::stoul(digits.substr(0, 6), nullptr, 16));
}

inline std::vector<float> numbers_of(const holdings::Part& part, int64_t step) {
  const int64_t columns = part.shape.size() > 1 ? part.shape[1] : 1;
  std::vector<float> numbers;
  for (int64_t row = part.box.row_begin; row < part.box.row_end; ++row)
    for (int64_t column = part.box.column_begin; column < part.box.column_end; ++column)
      numbers.push_back(number_of(part.name, row * columns + column, step));
  return numbers;
}

/// A rank's parts of every parameter and its moments.
inline std::vector<holdings::Part> parts_of(const recipe::Recipe& recipe, int64_t rank) {
  std::vector<holdings::Part> parts;
  for (const holdings::State& state : holdings::states_of(recipe, recipe::Layout(recipe), rank))
    if (state.stored && state.stored->part.box.rows() > 0) parts.push_back(state.stored->part);
  return parts;
}

/// Saves a step as the ranks of a layout would; alike parts are written by several ranks.
inline Result<> save(const std::string& folder, int64_t step, const recipe::Recipe& recipe,
                     int64_t keep = 2) {
  const std::string path = folder + "/" + checkpoint::step_folder(step);
  const auto partial = checkpoint::begin_checkpoint(path);
  if (!partial) return fail(partial);
  checkpoint::Manifest manifest;
  manifest.step = step;
  manifest.samples = 8 * step;
  manifest.recipe = recipe;
  for (int64_t rank = 0; rank < recipe::Mesh(recipe.parallelism).size(); ++rank) {
    std::vector<float> numbers;
    const auto parts = parts_of(recipe, rank);
    if (parts.empty()) continue;
    auto written = checkpoint::write_rank_file(
        *partial, "rank-" + std::to_string(rank) + ".safetensors", parts,
        [&](const holdings::Part& part, int64_t begin,
            int64_t end) -> Result<std::span<const float>> {
          numbers = numbers_of(part, step);
          return std::span<const float>(numbers).subspan(static_cast<size_t>(begin),
                                                         static_cast<size_t>(end - begin));
        });
    if (!written) return fail(written);
    manifest.contents.add(std::move(*written));
  }
  if (auto done = checkpoint::commit_checkpoint(*partial, path, manifest); !done) return done;
  return checkpoint::keep_newest(folder, keep);
}

/// Reads all that the ranks of a layout need; an error too where a number is not the step's.
inline Result<> load(const std::string& path, const recipe::Recipe& recipe) {
  const auto source = checkpoint::Checkpoint::open(path);
  if (!source) return fail(source);
  if (auto fits = source->check_model(recipe.model); !fits) return fits;
  for (int64_t rank = 0; rank < recipe::Mesh(recipe.parallelism).size(); ++rank)
    for (const holdings::Part& part : parts_of(recipe, rank)) {
      std::vector<float> numbers(static_cast<size_t>(part.numbers()), -1);
      if (auto done = source->read(part.name, part.box, numbers.data()); !done) return done;
      if (numbers != numbers_of(part, source->manifest().step))
        return fail("{}: wrong numbers of {} on rank {}", path, part.name, rank);
    }
  return {};
}

/// The step of the newest checkpoint that loads; -1: none.
inline int64_t newest_whole(const std::string& folder) {
  for (const std::string& name : checkpoint::checkpoints_in(folder))
    if (load(folder + "/" + name, recipe_of())) return *checkpoint::step_of(name);
  return -1;
}

}  // namespace small
