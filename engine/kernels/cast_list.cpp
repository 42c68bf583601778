// Tensors in another type, many in one call: on a GPU the casts of a bucket are one kernel.
#include <ATen/ops/empty.h>

#include "engine/graph/operators.h"
#include "engine/kernels/kernel.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using at::Tensor;

void check(at::TensorList values, at::ScalarType dtype) {
  TORCH_CHECK(dtype == at::kFloat || dtype == at::kBFloat16, "cast_list gives fp32 or bf16, not ",
              dtype);
  for (const Tensor& value : values) {
    check_type(value, "cast_list's tensors");
    TORCH_CHECK(value.scalar_type() != dtype, "cast_list takes no tensor that is ", dtype);
  }
}

std::vector<Tensor> results_of(at::TensorList values, at::ScalarType dtype) {
  std::vector<Tensor> results;
  for (const Tensor& value : values)
    results.push_back(at::empty(value.sizes(), value.options().dtype(dtype)));
  return results;
}

std::vector<Tensor> cast_list_cpu(at::TensorList values, at::ScalarType dtype) {
  check(values, dtype);
  std::vector<Tensor> results = results_of(values, dtype);
  for (size_t i = 0; i < results.size(); ++i) results[i].copy_(values[i]);
  return results;
}

std::vector<Tensor> cast_list_meta(at::TensorList values, at::ScalarType dtype) {
  check(values, dtype);
  return results_of(values, dtype);
}

const graph::OperatorEntries entries = {
    {"heddle.cast_list",
     {.casts = true, .rate_of = "aten._to_copy", .scratch = &contiguous_copies}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("cast_list(Tensor[] values, ScalarType dtype) -> Tensor[]");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) { library.impl("cast_list", &cast_list_cpu); }
TORCH_LIBRARY_IMPL(heddle, Meta, library) { library.impl("cast_list", &cast_list_meta); }

}  // namespace heddle::kernels
