#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using Signature = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, bool);

// Of one position: cosines (c, c) and sines (−s, s) of each pair, side by side with its elements.
void spread(const float* table, float sign, float* cosines, float* sines, int64_t d) {
  for (int64_t i = 0; i < d; i += 2) {
    cosines[i] = cosines[i + 1] = table[i];
    sines[i] = -sign * table[i + 1];
    sines[i + 1] = sign * table[i + 1];
  }
}

template <typename T>
HEDDLE_VECTORIZED void rotate(const T* x, const float* cosines, const float* sines, T* y,
                              int64_t heads, int64_t d) {
  for (int64_t h = 0; h < heads; ++h, x += d, y += d) {
#pragma omp simd
    for (int64_t i = 0; i < d; i += 2) {
      const float even = load(x + i), odd = load(x + i + 1);
      store(y + i, even * cosines[i] + odd * sines[i]);
      store(y + i + 1, odd * cosines[i + 1] + even * sines[i + 1]);
    }
  }
}

void check(const at::Tensor& x, const at::Tensor& table, const at::Tensor& positions) {
  TORCH_CHECK(x.dim() == 4 && table.dim() == 3 && table.size(1) * 2 == x.size(3) &&
                  table.size(2) == 2 && positions.dim() == 2 && positions.size(0) == x.size(0) &&
                  positions.size(1) == x.size(1),
              "rope takes x [B, S, H, D], table [positions, D/2, 2] and positions [B, S], not ",
              x.sizes(), ", ", table.sizes(), " and ", positions.sizes());
  check_type(x, "rope's x");
  TORCH_CHECK(table.scalar_type() == at::kFloat && positions.scalar_type() == at::kLong,
              "rope's table must be fp32 and its positions int64, not ", table.scalar_type(),
              " and ", positions.scalar_type());
}

at::Tensor rope_cpu(const at::Tensor& x_in, const at::Tensor& table_in,
                    const at::Tensor& positions_in, bool inverse) {
  check(x_in, table_in, positions_in);
  const at::Tensor x = x_in.contiguous(), table = table_in.contiguous(),
                   positions = positions_in.contiguous();
  const int64_t tokens = x.size(0) * x.size(1), heads = x.size(2), d = x.size(3);
  const int64_t* position = positions.const_data_ptr<int64_t>();
  at::Tensor y = at::empty_like(x);
  by_type(x, [&]<typename T>(T) {
    at::parallel_for(0, tokens, grain(heads * d), [&](int64_t begin, int64_t end) {
      std::vector<float> angles(static_cast<size_t>(2 * d));
      float *cosines = angles.data(), *sines = cosines + d;
      for (int64_t t = begin; t < end; ++t) {
        TORCH_CHECK(position[t] >= 0 && position[t] < table.size(0), "position ", position[t],
                    " is outside the RoPE table of ", table.size(0), " positions");
        prefetch(x.const_data_ptr<T>() + (t + 2) * heads * d, heads * d);
        prefetch(y.mutable_data_ptr<T>() + (t + 2) * heads * d, heads * d);
        spread(table.const_data_ptr<float>() + position[t] * d, inverse ? -1.0F : 1.0F, cosines,
               sines, d);
        rotate(x.const_data_ptr<T>() + t * heads * d, cosines, sines,
               y.mutable_data_ptr<T>() + t * heads * d, heads, d);
      }
    });
  });
  return y;
}

at::Tensor rope_meta(const at::Tensor& x, const at::Tensor& table, const at::Tensor& positions,
                     bool) {
  check(x, table, positions);
  return at::empty_like(x, at::MemoryFormat::Contiguous);
}

// A rotation's transpose is the rotation back.
struct Rope : torch::autograd::Function<Rope> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& table, const at::Tensor& positions) {
    at::AutoDispatchBelowADInplaceOrView below;
    static const auto op = find<Signature>("heddle::rope");
    context->save_for_backward({table, positions});
    return op.call(x, table, positions, false);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    static const auto op = find<Signature>("heddle::rope");
    const auto saved = context->get_saved_variables();
    return {op.call(grads[0], saved[0], saved[1], true), {}, {}};
  }
};

const graph::OperatorEntries entries = {
    // To fp32 (r W), complex product (R W), to bf16 (R w): 20 bytes for 4; capitals are fp32.
    {"heddle.rope",
     {.takes = {{0}}, .unfused = {.bytes = 5.0, .kernels = 3}, .scratch = &contiguous_copies}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("rope(Tensor x, Tensor table, Tensor positions, bool inverse=False) -> Tensor");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) { library.impl("rope", &rope_cpu); }
TORCH_LIBRARY_IMPL(heddle, Meta, library) { library.impl("rope", &rope_meta); }

at::Tensor rope(const at::Tensor& x, const at::Tensor& table, const at::Tensor& positions) {
  return Rope::apply(x, table, positions);
}

}  // namespace heddle::kernels
