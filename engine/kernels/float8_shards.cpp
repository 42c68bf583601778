// A weight in 8 bits that ranks hold shards of: the scale of all of it, and each shard's numbers in
// e4m3 with that scale, which ranks gather and backward multiplies by. The bits equal
// `float8_quantize` of the whole weight in bf16.
#include <ATen/ops/empty.h>

#include <vector>

#include "engine/kernels/float8_format.h"
#include "engine/kernels/kernel.h"
#include "engine/kernels/list_blocks.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using at::Tensor;
using Two = std::tuple<Tensor, Tensor>;

// Without its sign, as bits: they have the order of the numbers, NaN comes last.
HEDDLE_VECTORIZED uint32_t largest(const float* x, int64_t n) {
  uint32_t most = 0;
#pragma omp simd reduction(max : most)
  for (int64_t i = 0; i < n; ++i) most = std::max(most, bits_of(x[i]) & 0x7FFFFFFF);
  return most;
}

float in_bf16(float x) {
  at::BFloat16 rounded;
  store(&rounded, x);
  return load(&rounded);
}

HEDDLE_VECTORIZED void encode(const float* x, float scale, uint8_t* to, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) to[i] = E4m3::encoded(in_bf16(x[i]) * scale);
}

void check_shard(const Tensor& shard) {
  TORCH_CHECK(shard.scalar_type() == at::kFloat, "a shard that is to be in 8 bits is fp32, not ",
              shard.scalar_type());
}

Tensor largest_cpu(at::TensorList shards) {
  Tensor result = at::empty({static_cast<int64_t>(shards.size())}, shards.front().options());
  for (size_t i = 0; i < shards.size(); ++i) {
    check_shard(shards[i]);
    const Tensor shard = shards[i].contiguous();
    const int64_t parts = (shard.numel() + kGrain - 1) / kGrain;
    std::vector<uint32_t> most(static_cast<size_t>(parts) + 1, 0);
    at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part)
        most[static_cast<size_t>(part)] = largest(shard.const_data_ptr<float>() + part * kGrain,
                                                  std::min(kGrain, shard.numel() - part * kGrain));
    });
    // Rounding keeps the order.
    result.mutable_data_ptr<float>()[i] =
        in_bf16(float_of(*std::max_element(most.begin(), most.end())));
  }
  return result;
}

Tensor largest_meta(at::TensorList shards) {
  for (const Tensor& shard : shards) check_shard(shard);
  return at::empty({static_cast<int64_t>(shards.size())}, shards.front().options());
}

void check_cast(const Tensor& shard, const Tensor& largest, int64_t index) {
  check_shard(shard);
  TORCH_CHECK(largest.dim() == 1 && largest.scalar_type() == at::kFloat && index >= 0 &&
                  index < largest.size(0),
              "float8_cast takes one of the largest numbers as float8_largest gives them, not ",
              index, " of ", largest.scalar_type(), " ", largest.sizes());
}

Two empty_cast(const Tensor& shard) {
  return {at::empty(shard.sizes(), shard.options().dtype(at::kFloat8_e4m3fn)),
          at::empty({}, shard.options())};
}

Two cast_cpu(const Tensor& shard_in, const Tensor& largest, int64_t index) {
  check_cast(shard_in, largest, index);
  const Tensor shard = shard_in.contiguous();
  auto [values, inverse_scale] = empty_cast(shard);
  const float scale = float8_scale(largest.const_data_ptr<float>()[index], E4m3::kLargest, false);
  *inverse_scale.mutable_data_ptr<float>() = 1.0F / scale;
  const auto* from = shard.const_data_ptr<float>();
  auto* to = static_cast<uint8_t*>(values.mutable_data_ptr());
  at::parallel_for(0, shard.numel(), kGrain, [&](int64_t begin, int64_t end) {
    encode(from + begin, scale, to + begin, end - begin);
  });
  return {values, inverse_scale};
}

Two cast_meta(const Tensor& shard, const Tensor& largest, int64_t index) {
  check_cast(shard, largest, index);
  return empty_cast(shard);
}

Tensor empty_transposed(const Tensor& x) {
  TORCH_CHECK(x.dim() == 2 && x.element_size() == 1,
              "float8_transpose takes a matrix of 8-bit numbers, not ", x.scalar_type(), " ",
              x.sizes());
  return at::empty({x.size(1), x.size(0)}, x.options());
}

// A tile of it at a time, so that what is read and what is written stay in the cache.
Tensor transpose_cpu(const Tensor& x_in) {
  Tensor result = empty_transposed(x_in);
  const Tensor x = x_in.contiguous();
  const auto* from = static_cast<const uint8_t*>(x.const_data_ptr());
  auto* to = static_cast<uint8_t*>(result.mutable_data_ptr());
  constexpr int64_t kTile = 64;
  const int64_t rows = x.size(0), n = x.size(1), tiles = (n + kTile - 1) / kTile;
  at::parallel_for(0, tiles, grain(kTile * rows), [&](int64_t begin, int64_t end) {
    const int64_t last = std::min(n, end * kTile);
    for (int64_t row = 0; row < rows; row += kTile)
      for (int64_t column = begin * kTile; column < last; ++column)
        for (int64_t r = row; r < std::min(rows, row + kTile); ++r)
          to[column * rows + r] = from[r * n + column];
  });
  return result;
}

// On a GPU the largest numbers of parts.
int64_t largest_scratch(const graph::Graph& graph, const graph::Node& node,
                        const graph::Workplace& place) {
  int64_t parts = 0;
  const auto& shards = graph::list_of(node);
  for (const graph::Use& use : shards)
    parts += cuda::blocks_for(graph.values[use.value].bytes() / 4, cuda::kListChunk);
  return contiguous_copies(graph, node) + (place.gpu ? aligned(parts * 4) : 0);
}

const graph::OperatorEntries entries = {
    {"heddle.float8_largest",
     {.rate_of = "heddle.squared_norms", .kernels = 2, .scratch = &largest_scratch}},
    {"heddle.float8_cast",
     {.casts = true, .rate_of = "heddle.float8_quantize", .scratch = &contiguous_copies}},
    {"heddle.float8_transpose",
     {.rate_of = "heddle.float8_quantize", .scratch = &contiguous_copies}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("float8_largest(Tensor[] shards) -> Tensor");
  library.def("float8_cast(Tensor shard, Tensor largest, int index) -> (Tensor, Tensor)");
  library.def("float8_transpose(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("float8_largest", &largest_cpu);
  library.impl("float8_cast", &cast_cpu);
  library.impl("float8_transpose", &transpose_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("float8_largest", &largest_meta);
  library.impl("float8_cast", &cast_meta);
  library.impl("float8_transpose", &empty_transposed);
}

Tensor float8_largest(const std::vector<Tensor>& shards) {
  static const auto op = find<Tensor(at::TensorList)>("heddle::float8_largest");
  return op.call(shards);
}

Float8Matrix float8_cast(const Tensor& shard, const Tensor& largest, int64_t index) {
  static const auto op = find<Two(const Tensor&, const Tensor&, int64_t)>("heddle::float8_cast");
  auto [values, inverse_scale] = op.call(shard, largest, index);
  return {values, inverse_scale};
}

Float8Matrix float8_transpose(const Float8Matrix& x) {
  static const auto op = find<Tensor(const Tensor&)>("heddle::float8_transpose");
  return {op.call(x.values), x.inverse_scale};
}

}  // namespace heddle::kernels
