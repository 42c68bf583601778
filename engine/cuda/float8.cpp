// Products in 8 bits on a GPU: matrices converted by kernels of engine/kernels, multiplied by the
// library's scaled product.
#include "engine/recipe/float8.h"

#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "engine/kernels/launch.h"
#include "engine/runtime/placement.h"

namespace heddle::cuda {
namespace {

using at::Tensor;
namespace launch = kernels::cuda;

constexpr int64_t kMultiple = recipe::kFloat8Multiple;

std::tuple<Tensor, Tensor> float8_quantize(const Tensor& x_in, at::ScalarType type, bool by_row,
                                           bool transposed) {
  TORCH_CHECK(x_in.dim() == 2 && x_in.scalar_type() == at::kBFloat16,
              "float8_quantize takes a bf16 matrix, not ", x_in.scalar_type(), " ", x_in.sizes());
  TORCH_CHECK(type == at::kFloat8_e4m3fn || type == at::kFloat8_e5m2,
              "float8_quantize gives e4m3 or e5m2, not ", type);
  const Tensor x = x_in.contiguous();
  const int64_t rows = x.size(0), n = x.size(1), of_result = transposed ? n : rows;
  const auto options = x.options();
  Tensor values = at::empty({of_result, transposed ? rows : n}, options.dtype(type));
  Tensor inverse_scale =
      at::empty(by_row ? std::vector<int64_t>{of_result, 1} : std::vector<int64_t>{},
                options.dtype(at::kFloat));
  const Tensor parts =
      at::empty({launch::float8_parts(rows, n, by_row, transposed)}, options.dtype(at::kInt));
  launch::float8_quantize(type == at::kFloat8_e4m3fn ? launch::Float8::e4m3 : launch::Float8::e5m2,
                          x.const_data_ptr(), values.mutable_data_ptr(),
                          inverse_scale.mutable_data_ptr<float>(),
                          reinterpret_cast<unsigned*>(parts.mutable_data_ptr<int>()), rows, n,
                          by_row, transposed, c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {values, inverse_scale};
}

Tensor float8_largest(at::TensorList shards_in) {
  Tensor result = at::empty({static_cast<int64_t>(shards_in.size())}, shards_in.front().options());
  std::vector<Tensor> shards;
  for (const Tensor& shard : shards_in) {
    TORCH_CHECK(shard.scalar_type() == at::kFloat, "float8_largest takes fp32, not ",
                shard.scalar_type());
    shards.push_back(shard.contiguous());
  }
  for (size_t first = 0; first < shards.size(); first += launch::kListed) {
    const runtime::ReusedScratch of_launch;  // one launch comes after the other
    launch::ListBlocks blocks{.chunk = launch::kListChunk};
    launch::Inputs inputs{};
    const size_t end = std::min<size_t>(shards.size(), first + launch::kListed);
    for (size_t i = first; i < end; ++i) {
      blocks.add(shards[i].numel());
      inputs.of[i - first] = shards[i].const_data_ptr();
    }
    const Tensor parts = at::empty({blocks.blocks()}, result.options().dtype(at::kInt));
    launch::float8_largest(
        blocks, inputs, reinterpret_cast<unsigned*>(parts.mutable_data_ptr<int>()),
        result.mutable_data_ptr<float>() + first, c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
  return result;
}

std::tuple<Tensor, Tensor> float8_cast(const Tensor& shard_in, const Tensor& largest,
                                       int64_t index) {
  TORCH_CHECK(shard_in.scalar_type() == at::kFloat && largest.scalar_type() == at::kFloat &&
                  index >= 0 && index < largest.numel(),
              "float8_cast takes fp32 and one of the largest numbers, not ", shard_in.scalar_type(),
              " and ", index, " of ", largest.scalar_type(), " ", largest.sizes());
  const Tensor shard = shard_in.contiguous();
  Tensor values = at::empty(shard.sizes(), shard.options().dtype(at::kFloat8_e4m3fn));
  Tensor inverse_scale = at::empty({}, shard.options());
  launch::float8_cast(shard.const_data_ptr<float>(), largest.const_data_ptr<float>() + index,
                      values.mutable_data_ptr(), inverse_scale.mutable_data_ptr<float>(),
                      shard.numel(), c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {values, inverse_scale};
}

Tensor float8_transpose(const Tensor& x_in) {
  TORCH_CHECK(x_in.dim() == 2 && x_in.element_size() == 1,
              "float8_transpose takes a matrix of 8-bit numbers, not ", x_in.scalar_type(), " ",
              x_in.sizes());
  const Tensor x = x_in.contiguous();
  Tensor result = at::empty({x.size(1), x.size(0)}, x.options());
  launch::float8_transpose(x.const_data_ptr(), result.mutable_data_ptr(), x.size(0), x.size(1),
                           c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return result;
}

Tensor float8_mm(const Tensor& a, const Tensor& a_inverse_scale, const Tensor& b,
                 const Tensor& b_inverse_scale, bool fast) {
  TORCH_CHECK(a.size(1) % kMultiple == 0 && b.size(0) % kMultiple == 0,
              "products in 8 bits take sides that are multiples of ", kMultiple, ", not a ",
              a.sizes(), " and b ", b.sizes());
  return at::_scaled_mm(a, b.t(), a_inverse_scale,
                        b_inverse_scale.dim() > 0 ? b_inverse_scale.t() : b_inverse_scale, {}, {},
                        at::kBFloat16, fast);
}

}  // namespace

TORCH_LIBRARY_IMPL(heddle, CUDA, library) {
  library.impl("float8_quantize", &float8_quantize);
  library.impl("float8_largest", &float8_largest);
  library.impl("float8_cast", &float8_cast);
  library.impl("float8_transpose", &float8_transpose);
  library.impl("float8_mm", &float8_mm);
}

}  // namespace heddle::cuda
