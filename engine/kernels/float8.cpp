// Products in 8 bits: bf16 matrices as e4m3 or e5m2 numbers (arXiv 2209.05433) with scales of their
// own, and products of them. Scales, types and rounding follow torchao's recipes tensorwise and
// rowwise. CPUs multiply the converted numbers with sums in fp32.
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e5m2.h>

#include <array>
#include <numeric>

#include "engine/kernels/float8_format.h"
#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using at::Tensor;
using Two = std::tuple<Tensor, Tensor>;

template <typename Kernel>
void by_format(at::ScalarType type, Kernel&& kernel) {
  if (type == at::kFloat8_e4m3fn) {
    kernel(E4m3());
  } else {
    kernel(E5m2());
  }
}

bool is_float8(at::ScalarType type) {
  return type == at::kFloat8_e4m3fn || type == at::kFloat8_e5m2;
}

template <typename F>
HEDDLE_VECTORIZED void encode(const at::BFloat16* x, float scale, uint8_t* to, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) to[i] = F::encoded(load(x + i) * scale);
}

template <typename Number>
void decode(const uint8_t* from, float* to, int64_t n) {
  static const auto numbers = [] {
    std::array<float, 256> all{};
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<float>(Number(static_cast<uint8_t>(i), Number::from_bits()));
    return all;
  }();
  for (int64_t i = 0; i < n; ++i) to[i] = numbers[from[i]];
}

// A bf16 number without its sign, as bits: they have the order of the numbers, NaN comes last.
uint16_t size_of(at::BFloat16 x) { return static_cast<uint16_t>(x.x & 0x7FFF); }

HEDDLE_VECTORIZED uint16_t largest(const at::BFloat16* x, int64_t n) {
  uint16_t most = 0;
#pragma omp simd reduction(max : most)
  for (int64_t i = 0; i < n; ++i) most = std::max(most, size_of(x[i]));
  return most;
}

HEDDLE_VECTORIZED void raise(const at::BFloat16* x, uint16_t* most, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) most[i] = std::max(most[i], size_of(x[i]));
}

constexpr int64_t kTile = 64;

// A matrix and the scale of each row of the result.
struct Scaled {
  const at::BFloat16* x;
  int64_t rows, columns;
  const std::vector<float>& scales;
  float scale(int64_t i) const { return scales[scales.size() == 1 ? 0 : static_cast<size_t>(i)]; }
};

template <typename F>
void encode_rows(const Scaled& from, uint8_t* to) {
  at::parallel_for(0, from.rows, grain(from.columns), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      encode<F>(from.x + r * from.columns, from.scale(r), to + r * from.columns, from.columns);
  });
}

// Rows of x that were scaled by column, a tile of the result at a time.
template <typename F>
HEDDLE_VECTORIZED void encode_tile(const Scaled& from, int64_t row, int64_t column, uint8_t* to) {
  const int64_t rows = std::min(kTile, from.rows - row),
                columns = std::min(kTile, from.columns - column);
  std::array<float, kTile> scales{};
  for (int64_t c = 0; c < columns; ++c) scales[static_cast<size_t>(c)] = from.scale(column + c);
  std::array<std::array<uint8_t, kTile>, kTile> tile;
  for (int64_t r = 0; r < rows; ++r) {
    const at::BFloat16* x = from.x + (row + r) * from.columns + column;
    uint8_t* line = tile[static_cast<size_t>(r)].data();
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) line[c] = F::encoded(load(x + c) * scales[c]);
  }
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r)
      to[(column + c) * from.rows + row + r] = tile[static_cast<size_t>(r)][static_cast<size_t>(c)];
}

template <typename F>
void encode_columns(const Scaled& from, uint8_t* to) {
  const int64_t tiles = (from.columns + kTile - 1) / kTile;
  at::parallel_for(0, tiles, grain(kTile * from.rows), [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile)
      for (int64_t row = 0; row < from.rows; row += kTile)
        encode_tile<F>(from, row, tile * kTile, to);
  });
}

// The largest |x| of each row, or of each column, as bits of bf16.
std::vector<uint16_t> largest_of(const at::BFloat16* x, int64_t rows, int64_t columns,
                                 bool of_columns) {
  std::vector<uint16_t> most(static_cast<size_t>(of_columns ? columns : rows), 0);
  if (of_columns) {
    at::parallel_for(0, columns, grain(rows), [&](int64_t begin, int64_t end) {
      for (int64_t r = 0; r < rows; ++r)
        raise(x + r * columns + begin, most.data() + begin, end - begin);
    });
  } else {
    at::parallel_for(0, rows, grain(columns), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        most[static_cast<size_t>(r)] = largest(x + r * columns, columns);
    });
  }
  return most;
}

void check_quantize(const Tensor& x, at::ScalarType type) {
  TORCH_CHECK(x.dim() == 2 && x.scalar_type() == at::kBFloat16,
              "float8_quantize takes a bf16 matrix, not ", x.scalar_type(), " ", x.sizes());
  TORCH_CHECK(is_float8(type), "float8_quantize gives e4m3 or e5m2, not ", type);
}

Two empty_quantized(const Tensor& x, at::ScalarType type, bool by_row, bool transposed) {
  const int64_t rows = x.size(transposed ? 1 : 0), columns = x.size(transposed ? 0 : 1);
  const auto scales = by_row ? std::vector<int64_t>{rows, 1} : std::vector<int64_t>{};
  return {at::empty({rows, columns}, x.options().dtype(type)),
          at::empty(scales, x.options().dtype(at::kFloat))};
}

Two quantize_cpu(const Tensor& x_in, at::ScalarType type, bool by_row, bool transposed) {
  check_quantize(x_in, type);
  const Tensor x = x_in.contiguous();
  auto [values, inverse_scale] = empty_quantized(x, type, by_row, transposed);
  const auto* numbers = x.const_data_ptr<at::BFloat16>();
  const int64_t rows = x.size(0), columns = x.size(1);
  std::vector<uint16_t> most = largest_of(numbers, rows, columns, by_row && transposed);
  if (!by_row)
    most = {std::accumulate(most.begin(), most.end(), uint16_t{0},
                            [](uint16_t a, uint16_t b) { return std::max(a, b); })};
  by_format(type, [&]<typename F>(F) {
    std::vector<float> scales;
    for (size_t i = 0; i < most.size(); ++i) {
      const at::BFloat16 largest(most[i], at::BFloat16::from_bits());
      scales.push_back(float8_scale(load(&largest), F::kLargest, by_row));
      inverse_scale.mutable_data_ptr<float>()[i] = 1.0F / scales[i];
    }
    auto* to = static_cast<uint8_t*>(values.mutable_data_ptr());
    const Scaled from{numbers, rows, columns, scales};
    transposed ? encode_columns<F>(from, to) : encode_rows<F>(from, to);
  });
  return {values, inverse_scale};
}

Two quantize_meta(const Tensor& x, at::ScalarType type, bool by_row, bool transposed) {
  check_quantize(x, type);
  return empty_quantized(x, type, by_row, transposed);
}

void check_mm(const Tensor& a, const Tensor& a_inverse_scale, const Tensor& b,
              const Tensor& b_inverse_scale) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(1) &&
                  is_float8(a.scalar_type()) && is_float8(b.scalar_type()),
              "float8_mm takes 8-bit a [m, k] and b [n, k], not ", a.scalar_type(), " ", a.sizes(),
              " and ", b.scalar_type(), " ", b.sizes());
  const auto fits = [](const Tensor& scale, const Tensor& of) {
    return scale.scalar_type() == at::kFloat &&
           (scale.dim() == 0 || scale.sizes() == at::IntArrayRef({of.size(0), 1}));
  };
  TORCH_CHECK(fits(a_inverse_scale, a) && fits(b_inverse_scale, b) &&
                  a_inverse_scale.dim() == b_inverse_scale.dim(),
              "float8_mm takes fp32 scales of both tensors or of the rows of both, not ",
              a_inverse_scale.sizes(), " and ", b_inverse_scale.sizes());
}

Tensor floats(const Tensor& values) {
  Tensor result = at::empty(values.sizes(), values.options().dtype(at::kFloat));
  const auto* from = static_cast<const uint8_t*>(values.const_data_ptr());
  float* to = result.mutable_data_ptr<float>();
  const auto part = values.scalar_type() == at::kFloat8_e4m3fn ? &decode<c10::Float8_e4m3fn>
                                                               : &decode<c10::Float8_e5m2>;
  at::parallel_for(0, values.numel(), kGrain, [&](int64_t begin, int64_t end) {
    part(from + begin, to + begin, end - begin);
  });
  return result;
}

HEDDLE_VECTORIZED void scale_row(const float* sums, float a, const float* b, at::BFloat16* out,
                                 int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) store(out + i, sums[i] * (a * b[i]));
}

HEDDLE_VECTORIZED void scale_all(const float* sums, float scale, at::BFloat16* out, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) store(out + i, sums[i] * scale);
}

// On CPUs sums are exact enough either way.
Tensor mm_cpu(const Tensor& a_in, const Tensor& a_inverse_scale, const Tensor& b_in,
              const Tensor& b_inverse_scale, bool) {
  check_mm(a_in, a_inverse_scale, b_in, b_inverse_scale);
  const Tensor a = a_in.contiguous(), b = b_in.contiguous();
  const int64_t m = a.size(0), n = b.size(0);
  Tensor sums = at::empty({m, n}, a.options().dtype(at::kFloat));
  at::mm_out(sums, floats(a), floats(b).t());
  Tensor result = at::empty({m, n}, a.options().dtype(at::kBFloat16));
  const bool by_row = a_inverse_scale.dim() > 0;
  const Tensor scales_a = a_inverse_scale.contiguous(), scales_b = b_inverse_scale.contiguous();
  const float *of_a = scales_a.const_data_ptr<float>(), *of_b = scales_b.const_data_ptr<float>();
  at::parallel_for(0, m, grain(n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* from = sums.const_data_ptr<float>() + r * n;
      auto* to = result.mutable_data_ptr<at::BFloat16>() + r * n;
      by_row ? scale_row(from, of_a[r], of_b, to, n) : scale_all(from, *of_a * *of_b, to, n);
    }
  });
  return result;
}

Tensor mm_meta(const Tensor& a, const Tensor& a_inverse_scale, const Tensor& b,
               const Tensor& b_inverse_scale, bool) {
  check_mm(a, a_inverse_scale, b, b_inverse_scale);
  return at::empty({a.size(0), b.size(0)}, a.options().dtype(at::kBFloat16));
}

bool flag(const graph::Node& node, size_t i) {
  return std::get<c10::IValue>(node.args[i]).toBool();
}

// The largest is looked for first; of a row that was read for it the cache has the rest.
int64_t quantize_bytes(const graph::Graph& graph, const graph::Node& node) {
  const bool once = flag(node, 2) && !flag(node, 3);
  return graph::argument(graph, node, 0).bytes() * (once ? 1 : 2) +
         graph.values[node.outputs[0]].bytes() + graph.values[node.outputs[1]].bytes();
}

std::array<int64_t, 3> mm_shape(const graph::Graph& graph, const graph::Node& node) {
  const auto &a = graph::argument(graph, node, 0), &b = graph::argument(graph, node, 2);
  return {a.sizes[0], a.sizes[1], b.sizes[0]};
}

double mm_flops(const graph::Graph& graph, const graph::Node& node) {
  const auto [m, k, n] = mm_shape(graph, node);
  return 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
}

// On a GPU the largest numbers of parts.
int64_t quantize_scratch(const graph::Graph& graph, const graph::Node& node,
                         const graph::Workplace& place) {
  const graph::Value& x = graph::argument(graph, node, 0);
  const int64_t parts = cuda::float8_parts(x.sizes[0], x.sizes[1], flag(node, 2), flag(node, 3));
  return contiguous_copies(graph, node) + (place.gpu ? aligned(parts * 4) : 0);
}

// Both as fp32, and the sums.
int64_t mm_scratch(const graph::Graph& graph, const graph::Node& node,
                   const graph::Workplace& place) {
  const int64_t copies = contiguous_copies(graph, node);
  if (place.gpu) return copies;
  const auto [m, k, n] = mm_shape(graph, node);
  return copies + aligned(m * k * 4) + aligned(n * k * 4) + aligned(m * n * 4);
}

const graph::OperatorEntries entries = {
    // In fp32 |x| (r w 2), its largest (r 2), x as fp32 (r 2 w 4), scaled (r w 4), cut off (r w 4),
    // cast (r 4 w 1): 33 bytes for 5; and five small ones for the scale.
    {"heddle.float8_quantize",
     {.bytes = &quantize_bytes,
      .unfused = {.bytes = 6.6, .kernels = 11},
      .scratch = &quantize_scratch}},
    {"heddle.float8_mm",
     {.selective = graph::Selective::every_second_kept,
      .flops = &mm_flops,
      .arithmetic = graph::Arithmetic::float8_product,
      .rate_shape = &mm_shape,
      .scratch = &mm_scratch}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def(
      "float8_quantize(Tensor x, ScalarType dtype, bool by_row, bool transposed) -> (Tensor, "
      "Tensor)");
  library.def(
      "float8_mm(Tensor a, Tensor a_inverse_scale, Tensor b, Tensor b_inverse_scale, bool fast) -> "
      "Tensor");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("float8_quantize", &quantize_cpu);
  library.impl("float8_mm", &mm_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("float8_quantize", &quantize_meta);
  library.impl("float8_mm", &mm_meta);
}

Float8Matrix float8_quantize(const Tensor& x, at::ScalarType type, bool by_row, bool transposed) {
  static const auto op =
      find<Two(const Tensor&, at::ScalarType, bool, bool)>("heddle::float8_quantize");
  auto [values, inverse_scale] = op.call(x, type, by_row, transposed);
  return {values, inverse_scale};
}

Tensor float8_mm(const Float8Matrix& a, const Float8Matrix& b, bool fast) {
  static const auto op =
      find<Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&, bool)>(
          "heddle::float8_mm");
  return op.call(a.values, a.inverse_scale, b.values, b.inverse_scale, fast);
}

}  // namespace heddle::kernels
