// LibTorch's operators in the table: what a captured step may consist of besides Heddle's own.
#include <algorithm>

#include "engine/graph/ir.h"

namespace heddle::graph {
namespace {

// [m, k] times [k, n]; in place the sum that it is added to comes first.
template <size_t First>
std::array<int64_t, 3> product_shape(const Graph& graph, const Node& node) {
  const Sizes a = argument(graph, node, First).sizes, b = argument(graph, node, First + 1).sizes;
  return {a[0], a[1], b[1]};
}

template <size_t First>
double product_flops(const Graph& graph, const Node& node) {
  const auto [m, k, n] = product_shape<First>(graph, node);
  return 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
}

// oneDNN reorders bf16 operands into blocks, which fills up what ends within one, and sums in fp32:
// an upper bound.
template <size_t First>
int64_t product_scratch(const Graph& graph, const Node& node, const Workplace& place) {
  if (place.gpu || argument(graph, node, First).dtype == c10::kFloat) return 0;
  constexpr int64_t kReorders = 65536, kBlock = 64;
  const auto blocks = [](int64_t n) { return (n + kBlock - 1) / kBlock * kBlock; };
  const auto [m, k, n] = product_shape<First>(graph, node);
  return blocks(m) * blocks(k) * 2 + blocks(k) * blocks(n) * 2 + blocks(m) * blocks(n) * 4 +
         kReorders;
}

// The number as a tensor, and its cast.
int64_t number_scratch(const Graph&, const Node&, const Workplace& place) {
  return place.gpu ? 0 : 128;
}

// On a GPU more tokens than kAtOnce are sorted, and the rows of each sum are summed in pieces, in
// fp32 (LibTorch's EmbeddingBackwardKernel.cu); for CUB's part of it an upper bound.
int64_t embedding_backward_scratch(const Graph& graph, const Node& node, const Workplace& place) {
  constexpr int64_t kAtOnce = 3072, kRowsOfPiece = 10, kWarp = 32, kLong = 8, kOfCub = 1 << 19;
  const graph::Value &tokens = argument(graph, node, 1),
                     &gradient = graph.values[node.outputs.front()];
  const int64_t count = tokens.bytes() / kLong, rows = gradient.sizes[0];
  if (!place.gpu || count <= kAtOnce) return 0;
  const int64_t sums = std::min(count, rows), pieces = count / kRowsOfPiece + sums;
  const int64_t columns = (gradient.sizes[1] + kWarp - 1) / kWarp * kWarp;
  return kLong * (6 * count + count / 4 + 2 * sums + pieces) + 4 * pieces * columns + kOfCub;
}

// It reads only the rows of the table that the indices name.
int64_t embedding_bytes(const Graph& graph, const Node& node) {
  return 2 * graph.values[node.outputs.front()].bytes() + argument(graph, node, 1).bytes();
}

}  // namespace

std::vector<OperatorEntry> libtorch_operators() {
  std::vector<OperatorEntry> entries = {
      {"aten.mm",
       {.selective = Selective::every_second_kept,
        .flops = &product_flops<0>,
        .rate_shape = &product_shape<0>,
        .scratch = &product_scratch<0>}},
      // The sum that a product adds to takes next to nothing.
      {"aten.addmm_",
       {.flops = &product_flops<1>,
        .rate_shape = &product_shape<1>,
        .rate_of = "aten.mm",
        .scratch = &product_scratch<1>}},
      {"aten.add.Tensor", {.adds = true, .takes = {{0, 1}}}},
      {"aten._to_copy", {.casts = true}},
      {"aten.zero_", {.sum = Sum::zeroed}},
      {"aten.embedding", {.bytes = &embedding_bytes}},
      {"aten.embedding_dense_backward", {.scratch = &embedding_backward_scratch}},
      {"aten.mul.Scalar", {.scratch = &number_scratch}},
      {"aten.div.Scalar", {.scratch = &number_scratch}},
      {"aten.ge.Scalar", {.scratch = &number_scratch}},
      {"aten.lt.Scalar", {.scratch = &number_scratch}},
      {"aten.masked_fill.Scalar", {.scratch = &number_scratch}},
  };
  for (const char* name :
       {"aten._reshape_alias", "aten._unsafe_view", "aten.alias", "aten.as_strided", "aten.detach",
        "aten.expand", "aten.permute", "aten.select.int", "aten.slice.Tensor", "aten.split.Tensor",
        "aten.split_with_sizes", "aten.squeeze.dim", "aten.t", "aten.unbind.int",
        "aten.transpose.int", "aten.unsqueeze", "aten.view"})
    entries.push_back({name, {.role = Role::view}});
  // Each element by itself, or copied.
  for (const char* name : {"aten.addcmul_",      "aten.bitwise_or.Tensor",
                           "aten.cat",           "aten.clone",
                           "aten.copy_",         "aten.div.Tensor",
                           "aten.index_select",  "aten.mul.Tensor",
                           "aten.neg",           "aten.ones",
                           "aten.ones_like",     "aten.silu",
                           "aten.silu_backward", "aten.sqrt",
                           "aten.stack",         "aten.sub.Tensor",
                           "aten.sum",           "aten.sum.dim_IntList",
                           "aten.zeros",         "aten.zeros_like"})
    entries.push_back({name, {}});
  return entries;
}

}  // namespace heddle::graph
