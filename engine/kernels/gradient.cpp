// Operators between backward and the update: accumulation, norms, clipping. None has a gradient.
#include <ATen/ops/empty.h>

#include <cmath>

#include "engine/kernels/kernel.h"
#include "engine/kernels/list_blocks.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using at::Tensor;

template <typename T>
HEDDLE_VECTORIZED void add_range(float* sum, const T* value, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) sum[i] += load(value + i);
}

template <typename T>
HEDDLE_VECTORIZED double squares(const T* x, int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) {
    const double value = load(x + i);
    sum += value * value;
  }
  return sum;
}

void check_accumulate(const Tensor& sum, const Tensor& value) {
  check_type(value, "accumulate_'s value");
  TORCH_CHECK(sum.scalar_type() == at::kFloat && sum.sizes() == value.sizes(),
              "accumulate_ takes an fp32 sum and a value of its shape, not ", sum.scalar_type(),
              " ", sum.sizes(), " and ", value.sizes());
}

void accumulate_cpu(Tensor sum, const Tensor& value_in) {
  check_accumulate(sum, value_in);
  TORCH_CHECK(sum.is_contiguous(), "accumulate_ takes a contiguous sum");
  const Tensor value = value_in.contiguous();
  by_type(value, [&]<typename T>(T) {
    at::parallel_for(0, sum.numel(), kGrain, [&](int64_t begin, int64_t end) {
      add_range(sum.mutable_data_ptr<float>() + begin, value.const_data_ptr<T>() + begin,
                end - begin);
    });
  });
}

// Blocks of a fixed size, added in order: the result does not depend on the threads.
Tensor squared_norm(const Tensor& tensor_in) {
  check_type(tensor_in, "squared_norms' tensors");
  constexpr int64_t kBlock = 65536;
  const Tensor tensor = tensor_in.contiguous();
  const int64_t blocks = (tensor.numel() + kBlock - 1) / kBlock;
  std::vector<double> partial(static_cast<size_t>(blocks));
  by_type(tensor, [&]<typename T>(T) {
    at::parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block)
        partial[static_cast<size_t>(block)] =
            squares(tensor.const_data_ptr<T>() + block * kBlock,
                    std::min(kBlock, tensor.numel() - block * kBlock));
    });
  });
  double sum = 0;
  for (double block : partial) sum += block;
  Tensor result = at::empty({}, at::kDouble);
  *result.mutable_data_ptr<double>() = sum;
  return result;
}

std::vector<Tensor> squared_norms_cpu(at::TensorList tensors) {
  std::vector<Tensor> results;
  for (const Tensor& tensor : tensors) results.push_back(squared_norm(tensor));
  return results;
}

Tensor total_norm_cpu(at::TensorList squared_norms) {
  double sum = 0;
  for (const Tensor& each : squared_norms) sum += *each.const_data_ptr<double>();
  Tensor result = at::empty({}, at::kDouble);
  *result.mutable_data_ptr<double>() = sum;
  return result;
}

Tensor clip_factor_cpu(const Tensor& norm, double max_norm) {
  const double value = norm.item<double>();
  double factor = 1.0;
  if (!std::isfinite(value)) {
    factor = 0.0;
  } else if (max_norm > 0.0) {
    factor = std::min(1.0, max_norm / (value + 1e-6));
  }
  Tensor result = at::empty({}, at::kFloat);
  *result.mutable_data_ptr<float>() = static_cast<float>(factor);
  return result;
}

void accumulate_meta(Tensor sum, const Tensor& value) { check_accumulate(sum, value); }
std::vector<Tensor> squared_norms_meta(at::TensorList tensors) {
  std::vector<Tensor> results;
  for (const Tensor& tensor : tensors) {
    check_type(tensor, "squared_norms' tensors");
    results.push_back(at::empty({}, tensor.options().dtype(at::kDouble)));
  }
  return results;
}
Tensor total_norm_meta(at::TensorList squared_norms) {
  TORCH_CHECK(!squared_norms.empty(), "total_norm takes at least one tensor");
  for (const Tensor& each : squared_norms)
    TORCH_CHECK(each.dim() == 0 && each.scalar_type() == at::kDouble,
                "total_norm takes fp64 tensors without dimensions, not ", each.scalar_type(), " ",
                each.sizes());
  return at::empty({}, squared_norms.front().options());
}
Tensor clip_factor_meta(const Tensor& norm, double) {
  return at::empty({}, norm.options().dtype(at::kFloat));
}

// On a GPU one fp64 number for each block of each tensor.
int64_t norms_scratch(const graph::Graph& graph, const graph::Node& node,
                      const graph::Workplace& place) {
  constexpr int64_t kChunk = cuda::kListChunk;
  int64_t bytes = 0;
  for (const graph::Use& use : graph::list_of(node)) {
    const graph::Value& value = graph.values[use.value];
    const int64_t elements = value.bytes() / static_cast<int64_t>(c10::elementSize(value.dtype));
    bytes += (elements + kChunk - 1) / kChunk * 8;
  }
  return contiguous_copies(graph, node) + (place.gpu ? aligned(bytes) : 0);
}

const graph::OperatorEntries entries = {
    {"heddle.accumulate_", {.sum = graph::Sum::added_to, .scratch = &contiguous_copies}},
    {"heddle.squared_norms", {.merges = true, .kernels = 2, .scratch = &norms_scratch}},
    {"heddle.total_norm", {.scratch = &contiguous_copies}},
    {"heddle.clip_factor", {.scratch = &contiguous_copies}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("accumulate_(Tensor(a!) sum, Tensor value) -> ()");
  library.def("squared_norms(Tensor[] tensors) -> Tensor[]");
  library.def("total_norm(Tensor[] squared_norms) -> Tensor");
  library.def("clip_factor(Tensor norm, float max_norm) -> Tensor");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("accumulate_", &accumulate_cpu);
  library.impl("squared_norms", &squared_norms_cpu);
  library.impl("total_norm", &total_norm_cpu);
  library.impl("clip_factor", &clip_factor_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("accumulate_", &accumulate_meta);
  library.impl("squared_norms", &squared_norms_meta);
  library.impl("total_norm", &total_norm_meta);
  library.impl("clip_factor", &clip_factor_meta);
}

void accumulate_(Tensor sum, const Tensor& value) {
  static const auto op = find<void(Tensor, const Tensor&)>("heddle::accumulate_");
  op.call(std::move(sum), value);
}

std::vector<Tensor> squared_norms(const std::vector<Tensor>& tensors) {
  static const auto op = find<std::vector<Tensor>(at::TensorList)>("heddle::squared_norms");
  return op.call(tensors);
}

Tensor total_norm(const std::vector<Tensor>& squared_norms) {
  static const auto op = find<Tensor(at::TensorList)>("heddle::total_norm");
  return op.call(squared_norms);
}

Tensor clip_factor(const Tensor& norm, double max_norm) {
  static const auto op = find<Tensor(const Tensor&, double)>("heddle::clip_factor");
  return op.call(norm, max_norm);
}

}  // namespace heddle::kernels
