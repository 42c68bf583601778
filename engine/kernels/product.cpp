// Products whose results are wanted in another type, and those that are added to a sum: of bf16 on
// a GPU, which sums in fp32 as it is, without a copy in bf16 between. A CPU's product rounds to
// bf16, and so does this one there.
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using at::Tensor;

Tensor mm_to_cpu(const Tensor& a, const Tensor& b, at::ScalarType dtype) {
  return a.mm(b).to(dtype);
}

void add_mm_cpu(const Tensor& a, const Tensor& b, Tensor sum) {
  accumulate_(std::move(sum), a.mm(b));
}

void check_product(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0),
              "a product takes [m, k] and [k, n], not ", a.sizes(), " and ", b.sizes());
}

Tensor mm_to_meta(const Tensor& a, const Tensor& b, at::ScalarType dtype) {
  check_product(a, b);
  return at::empty({a.size(0), b.size(1)}, a.options().dtype(dtype));
}

void add_mm_meta(const Tensor& a, const Tensor& b, Tensor sum) {
  check_product(a, b);
  TORCH_CHECK(sum.scalar_type() == at::kFloat && sum.dim() == 2 && sum.size(0) == a.size(0) &&
                  sum.size(1) == b.size(1),
              "add_mm_ adds to an fp32 sum of the product's shape, not to ", sum.scalar_type(), " ",
              sum.sizes());
}

using graph::Graph;
using graph::Node;

std::array<int64_t, 3> shape(const Graph& graph, const Node& node) {
  const graph::Sizes a = graph::argument(graph, node, 0).sizes,
                     b = graph::argument(graph, node, 1).sizes;
  return {a[0], a[1], b[1]};
}

double flops(const Graph& graph, const Node& node) {
  const auto [m, k, n] = shape(graph, node);
  return 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
}

// The product's own scratch, and its result.
int64_t scratch(const Graph& graph, const Node& node, const graph::Workplace& place) {
  const c10::ScalarType type = graph::argument(graph, node, 0).dtype;
  if (place.gpu && type == at::kBFloat16) return 0;
  static const graph::Op product("aten.mm");
  const auto [m, k, n] = shape(graph, node);
  return product->scratch(graph, node, place) +
         aligned(m * n * static_cast<int64_t>(c10::elementSize(type)));
}

const graph::OperatorEntries entries = {
    {"heddle.mm_to",
     {.fuses = {.first = "aten.mm", .second = "aten._to_copy", .argument = 0},
      .flops = &flops,
      .rate_shape = &shape,
      .rate_of = "aten.mm",
      .scratch = &scratch}},
    {"heddle.add_mm_",
     {.fuses = {.first = "aten.mm", .second = "heddle.accumulate_", .argument = 1},
      .flops = &flops,
      .rate_shape = &shape,
      .rate_of = "aten.mm",
      .scratch = &scratch}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("mm_to(Tensor a, Tensor b, ScalarType dtype) -> Tensor");
  library.def("add_mm_(Tensor a, Tensor b, Tensor(a!) sum) -> ()");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("mm_to", &mm_to_cpu);
  library.impl("add_mm_", &add_mm_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("mm_to", &mm_to_meta);
  library.impl("add_mm_", &add_mm_meta);
}

}  // namespace heddle::kernels
