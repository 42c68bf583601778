#include "engine/published/nearest.h"

#include <algorithm>
#include <cmath>

#include "base/number_text.h"

namespace heddle::published {
namespace {

double octaves(double a, double b) { return std::abs(std::log2(a / b)); }
double octaves(int64_t a, int64_t b) {
  return octaves(static_cast<double>(a), static_cast<double>(b));
}

// Parameters of the layers' products; the FLOPs of a token are roughly proportional to them.
double size_of(int64_t dim, int64_t layers, int64_t ffn) {
  return static_cast<double>(layers * dim) * static_cast<double>(4 * dim + 3 * ffn);
}

double size_apart(const Row& row, const recipe::Recipe& recipe) {
  return octaves(size_of(row.dim, row.layers, row.ffn),
                 size_of(recipe.model.dim, recipe.model.n_layers, recipe.model.ffn_dim));
}

}  // namespace

double distance(const Row& row, const recipe::Recipe& recipe, const std::string& hardware) {
  const recipe::Parallelism& p = recipe.parallelism;
  const bool eight = recipe.precision.float8 != recipe::Float8::none;
  const bool again = recipe.recompute.mode != recipe::RecomputeMode::none;
  double sum = 4 * size_apart(row, recipe);
  if (row.hardware != hardware.substr(0, hardware.find('@'))) sum += 3;
  if ((row.precision == "fp8") != eight) sum += 2;
  if ((row.recompute != "none") != again) sum += 1;
  sum += octaves(row.seq_len, recipe.data.seq_len);
  sum += octaves(row.ranks, recipe.hardware.ranks) / 2;
  sum += (octaves(row.tp, p.tp) + octaves(row.pp, p.pp) + octaves(row.cp, p.cp)) / 2;
  return sum + octaves(row.micro_batch, recipe.micro_batch_size()) / 4;
}

std::vector<Row> nearest(const std::vector<Row>& rows, const recipe::Recipe& recipe,
                         const std::string& hardware, size_t most) {
  constexpr double kMaxOctaves = 2;
  std::vector<std::pair<double, const Row*>> all;
  for (const Row& row : rows)
    if (size_apart(row, recipe) <= kMaxOctaves)
      all.emplace_back(distance(row, recipe, hardware), &row);
  std::ranges::stable_sort(all, {}, [](const auto& each) { return each.first; });
  std::vector<Row> found;
  for (size_t i = 0; i < std::min(most, all.size()); ++i) found.push_back(*all[i].second);
  return found;
}

std::string far_above(const std::vector<Row>& rows, const recipe::Recipe& recipe,
                      const std::string& hardware, double tokens_per_second_per_rank) {
  constexpr double kFar = 1.25, kSameSize = 0.1, kRankOctaves = 2;
  const bool eight = recipe.precision.float8 != recipe::Float8::none;
  const std::string node = hardware.substr(0, hardware.find('@'));
  const Row* best = nullptr;
  for (const Row& row : rows) {
    if (row.hardware != node || (row.precision == "fp8") != eight) continue;
    if (row.seq_len != recipe.data.seq_len || size_apart(row, recipe) > kSameSize) continue;
    if (octaves(row.ranks, recipe.hardware.ranks) > kRankOctaves) continue;
    if (!best || row.tokens_per_second_per_rank > best->tokens_per_second_per_rank) best = &row;
  }
  if (!best || tokens_per_second_per_rank <= kFar * best->tokens_per_second_per_rank) return {};
  return fmt::format(
      "the plan promises {:.0f} % more than the best that others have published of this recipe, "
      "{} tokens/s a GPU ({}): treat it with care",
      100 * (tokens_per_second_per_rank / best->tokens_per_second_per_rank - 1),
      count_text(best->tokens_per_second_per_rank), best->framework);
}

std::string words(const Row& row) {
  return fmt::format(
      "{} tokens/s a GPU: {} on {} × {}, sequence {}, micro-batch {}, tp {} pp {} cp {}, {}{} "
      "({}: {})",
      count_text(row.tokens_per_second_per_rank), row.model, row.ranks, row.hardware, row.seq_len,
      row.micro_batch, row.tp, row.pp, row.cp, row.precision,
      row.recompute == "none" ? "" : ", recomputation " + row.recompute, row.framework, row.source);
}

}  // namespace heddle::published
