#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"

namespace heddle::kernels {
namespace {

using Signature = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, bool);

HEDDLE_VECTORIZED
void rotate(const float* x, const float* table, float sign, float* y, int64_t pairs) {
#pragma omp simd
  for (int64_t i = 0; i < pairs; ++i) {
    const float c = table[2 * i], s = sign * table[2 * i + 1];
    y[2 * i] = x[2 * i] * c - x[2 * i + 1] * s;
    y[2 * i + 1] = x[2 * i] * s + x[2 * i + 1] * c;
  }
}

at::Tensor rope_cpu(const at::Tensor& x_in, const at::Tensor& table, const at::Tensor& positions,
                    bool inverse) {
  check_float(x_in, "rope's x");
  const at::Tensor x = x_in.contiguous();
  const int64_t tokens = x.size(0) * x.size(1), heads = x.size(2), d = x.size(3);
  const int64_t* position = positions.const_data_ptr<int64_t>();
  at::Tensor y = at::empty_like(x);
  at::parallel_for(0, tokens, grain(heads * d), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      TORCH_CHECK(position[t] >= 0 && position[t] < table.size(0), "position ", position[t],
                  " is outside the RoPE table of ", table.size(0), " positions");
      for (int64_t h = 0; h < heads; ++h)
        rotate(x.const_data_ptr<float>() + (t * heads + h) * d,
               table.const_data_ptr<float>() + position[t] * d, inverse ? -1.0F : 1.0F,
               y.mutable_data_ptr<float>() + (t * heads + h) * d, d / 2);
    }
  });
  return y;
}

at::Tensor rope_meta(const at::Tensor& x, const at::Tensor& table, const at::Tensor& positions,
                     bool) {
  TORCH_CHECK(x.dim() == 4 && table.dim() == 3 && table.size(1) * 2 == x.size(3) &&
                  positions.dim() == 2 && positions.size(0) == x.size(0) &&
                  positions.size(1) == x.size(1),
              "rope takes x [B, S, H, D], table [positions, D/2, 2] and positions [B, S], not ",
              x.sizes(), ", ", table.sizes(), " and ", positions.sizes());
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
