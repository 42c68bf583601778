#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "engine/kernels/joined.h"
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

// A row is the gate, then the numbers that it lets through.
int64_t check_joined(const Tensor& gate_and_up) {
  check_type(gate_and_up, "joined_swiglu's rows");
  TORCH_CHECK(gate_and_up.dim() == 2 && gate_and_up.size(1) % 2 == 0,
              "joined_swiglu takes rows of gate and up, [T, 2 F], not ", gate_and_up.sizes());
  return gate_and_up.size(1) / 2;
}

void check_joined_backward(const Tensor& dout, const Tensor& gate_and_up) {
  const int64_t width = check_joined(gate_and_up);
  TORCH_CHECK(dout.dim() == 2 && dout.size(0) == gate_and_up.size(0) && dout.size(1) == width &&
                  dout.scalar_type() == gate_and_up.scalar_type(),
              "joined_swiglu_backward takes dout [T, F] beside rows [T, 2 F], not ",
              dout.scalar_type(), " ", dout.sizes(), " and ", gate_and_up.scalar_type(), " ",
              gate_and_up.sizes());
}

Tensor joined_forward_cpu(const Tensor& gate_and_up_in) {
  const int64_t width = check_joined(gate_and_up_in);
  const Tensor gate_and_up = gate_and_up_in.contiguous();
  Tensor out = at::empty({gate_and_up.size(0), width}, gate_and_up.options());
  by_type(out, [&]<typename T>(T) {
    at::parallel_for(0, out.size(0), grain(width), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* gate = gate_and_up.const_data_ptr<T>() + row * 2 * width;
        forward_range(gate, gate + width, out.mutable_data_ptr<T>() + row * width, width);
      }
    });
  });
  return out;
}

Tensor joined_backward_cpu(const Tensor& dout_in, const Tensor& gate_and_up_in) {
  check_joined_backward(dout_in, gate_and_up_in);
  const Tensor dout = dout_in.contiguous(), gate_and_up = gate_and_up_in.contiguous();
  Tensor gradient = at::empty_like(gate_and_up);
  const int64_t width = dout.size(1);
  by_type(dout, [&]<typename T>(T) {
    at::parallel_for(0, dout.size(0), grain(width), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* gate = gate_and_up.const_data_ptr<T>() + row * 2 * width;
        T* dgate = gradient.mutable_data_ptr<T>() + row * 2 * width;
        backward_range(dout.const_data_ptr<T>() + row * width, gate, gate + width, dgate,
                       dgate + width, width);
      }
    });
  });
  return gradient;
}

Tensor joined_forward_meta(const Tensor& gate_and_up) {
  const int64_t width = check_joined(gate_and_up);
  return at::empty({gate_and_up.size(0), width}, gate_and_up.options());
}

Tensor joined_backward_meta(const Tensor& dout, const Tensor& gate_and_up) {
  check_joined_backward(dout, gate_and_up);
  return at::empty_like(gate_and_up, at::MemoryFormat::Contiguous);
}

struct JoinedSwiGlu : torch::autograd::Function<JoinedSwiGlu> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& gate_and_up) {
    at::AutoDispatchBelowADInplaceOrView below;
    static const auto op = find<Tensor(const Tensor&)>("heddle::joined_swiglu");
    context->save_for_backward({gate_and_up});
    return op.call(gate_and_up);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    static const auto op = find<Forward>("heddle::joined_swiglu_backward");
    return {op.call(grads[0], context->get_saved_variables()[0])};
  }
};

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
    {"heddle.joined_swiglu",
     {.rate_of = "heddle.swiglu",
      .unfused = {.bytes = 1.67, .kernels = 2},
      .scratch = &contiguous_copies}},
    {"heddle.joined_swiglu_backward",
     {.takes = {{1}},
      .rate_of = "heddle.swiglu_backward",
      .unfused = {.bytes = 1.8, .kernels = 3},
      .scratch = &contiguous_copies}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("swiglu(Tensor gate, Tensor up) -> Tensor");
  library.def("swiglu_backward(Tensor dout, Tensor gate, Tensor up) -> (Tensor, Tensor)");
  library.def("joined_swiglu(Tensor gate_and_up) -> Tensor");
  library.def("joined_swiglu_backward(Tensor dout, Tensor gate_and_up) -> Tensor");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("swiglu", &forward_cpu);
  library.impl("swiglu_backward", &backward_cpu);
  library.impl("joined_swiglu", &joined_forward_cpu);
  library.impl("joined_swiglu_backward", &joined_backward_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("swiglu", &forward_meta);
  library.impl("swiglu_backward", &backward_meta);
  library.impl("joined_swiglu", &joined_forward_meta);
  library.impl("joined_swiglu_backward", &joined_backward_meta);
}

Tensor swiglu(const Tensor& gate, const Tensor& up) { return SwiGlu::apply(gate, up); }

Tensor joined_swiglu(const Tensor& gate_and_up) { return JoinedSwiGlu::apply(gate_and_up); }

}  // namespace heddle::kernels
