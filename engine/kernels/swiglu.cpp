#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using at::Tensor;
using Forward = Tensor(const Tensor&, const Tensor&);
using Backward = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, const Tensor&);

template <typename T>
HEDDLE_VECTORIZED void forward_range(const T* gate, const T* up, T* out, int64_t n) {
  for (int64_t begin = 0; begin < n; begin += kPrefetched) {
    prefetch_ahead(gate + begin);
    prefetch_ahead(up + begin);
    prefetch_ahead(out + begin);
    const int64_t end = std::min(n, begin + kPrefetched);
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      const float g = load(gate + i);
      const float sigmoid = 1.0F / (1.0F + vector_exp(-g));
      store(out + i, g * sigmoid * load(up + i));
    }
  }
}

template <typename T>
HEDDLE_VECTORIZED void backward_range(const T* dout, const T* gate, const T* up, T* dgate, T* dup,
                                      int64_t n) {
  for (int64_t begin = 0; begin < n; begin += kPrefetched) {
    prefetch_ahead(dout + begin);
    prefetch_ahead(gate + begin);
    prefetch_ahead(up + begin);
    const int64_t end = std::min(n, begin + kPrefetched);
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      const float d = load(dout + i), g = load(gate + i);
      const float sigmoid = 1.0F / (1.0F + vector_exp(-g));
      const float silu = g * sigmoid;
      store(dgate + i, d * load(up + i) * (sigmoid + silu * (1.0F - sigmoid)));
      store(dup + i, d * silu);
    }
  }
}

void check(const Tensor& gate, const Tensor& up) {
  check_type(gate, "swiglu's gate");
  TORCH_CHECK(gate.sizes() == up.sizes() && gate.scalar_type() == up.scalar_type(),
              "swiglu takes two tensors of one shape and type, not ", gate.scalar_type(), " ",
              gate.sizes(), " and ", up.scalar_type(), " ", up.sizes());
}

void check_backward(const Tensor& dout, const Tensor& gate, const Tensor& up) {
  check(gate, up);
  TORCH_CHECK(dout.sizes() == gate.sizes() && dout.scalar_type() == gate.scalar_type(),
              "swiglu_backward takes dout like gate, not ", dout.scalar_type(), " ", dout.sizes(),
              " and ", gate.scalar_type(), " ", gate.sizes());
}

Tensor forward_cpu(const Tensor& gate_in, const Tensor& up_in) {
  check(gate_in, up_in);
  const Tensor gate = gate_in.contiguous(), up = up_in.contiguous();
  Tensor out = at::empty_like(gate);
  by_type(gate, [&]<typename T>(T) {
    at::parallel_for(0, out.numel(), kGrain, [&](int64_t begin, int64_t end) {
      forward_range(gate.const_data_ptr<T>() + begin, up.const_data_ptr<T>() + begin,
                    out.mutable_data_ptr<T>() + begin, end - begin);
    });
  });
  return out;
}

std::tuple<Tensor, Tensor> backward_cpu(const Tensor& dout_in, const Tensor& gate_in,
                                        const Tensor& up_in) {
  check_backward(dout_in, gate_in, up_in);
  const Tensor dout = dout_in.contiguous(), gate = gate_in.contiguous(), up = up_in.contiguous();
  Tensor dgate = at::empty_like(gate), dup = at::empty_like(up);
  by_type(gate, [&]<typename T>(T) {
    at::parallel_for(0, dout.numel(), kGrain, [&](int64_t begin, int64_t end) {
      backward_range(dout.const_data_ptr<T>() + begin, gate.const_data_ptr<T>() + begin,
                     up.const_data_ptr<T>() + begin, dgate.mutable_data_ptr<T>() + begin,
                     dup.mutable_data_ptr<T>() + begin, end - begin);
    });
  });
  return {dgate, dup};
}

Tensor forward_meta(const Tensor& gate, const Tensor& up) {
  check(gate, up);
  return at::empty_like(gate, at::MemoryFormat::Contiguous);
}

std::tuple<Tensor, Tensor> backward_meta(const Tensor& dout, const Tensor& gate, const Tensor& up) {
  check_backward(dout, gate, up);
  return {at::empty_like(gate, at::MemoryFormat::Contiguous),
          at::empty_like(up, at::MemoryFormat::Contiguous)};
}

struct SwiGlu : torch::autograd::Function<SwiGlu> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& gate,
                        const Tensor& up) {
    at::AutoDispatchBelowADInplaceOrView below;
    static const auto op = find<Forward>("heddle::swiglu");
    context->save_for_backward({gate, up});
    return op.call(gate, up);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    static const auto op = find<Backward>("heddle::swiglu_backward");
    const auto saved = context->get_saved_variables();
    auto [dgate, dup] = op.call(grads[0], saved[0], saved[1]);
    return {dgate, dup};
  }
};

const graph::OperatorEntries entries = {
    // silu (r w), product (2 r w): 10 bytes for 6.
    {"heddle.swiglu",
     {.takes = {{0, 1}}, .unfused = {.bytes = 1.67, .kernels = 2}, .scratch = &contiguous_copies}},
    // Two products (2 r w each), silu backward (2 r w): 18 for 10.
    {"heddle.swiglu_backward",
     {.takes = {{1, 0}, {2, 0}},
      .unfused = {.bytes = 1.8, .kernels = 3},
      .scratch = &contiguous_copies}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("swiglu(Tensor gate, Tensor up) -> Tensor");
  library.def("swiglu_backward(Tensor dout, Tensor gate, Tensor up) -> (Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("swiglu", &forward_cpu);
  library.impl("swiglu_backward", &backward_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("swiglu", &forward_meta);
  library.impl("swiglu_backward", &backward_meta);
}

Tensor swiglu(const Tensor& gate, const Tensor& up) { return SwiGlu::apply(gate, up); }

}  // namespace heddle::kernels
