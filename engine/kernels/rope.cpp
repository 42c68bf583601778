#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "engine/kernels/joined.h"
#include "engine/kernels/kernel.h"
#include "engine/kernels/operators.h"
#include "engine/kernels/scratch.h"

namespace heddle::kernels {
namespace {

using Signature = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, bool);

// One position's cosines (c, c) and sines (−s, s) of each pair, side by side with its elements.
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

// Heads of queries, and of keys or values, in a row of all three.
struct Heads {
  int64_t q, kv, d;
  int64_t columns() const { return (q + 2 * kv) * d; }
};

void check_angles(const at::Tensor& table, const at::Tensor& positions, int64_t tokens) {
  TORCH_CHECK(table.dim() == 3 && table.size(2) == 2 && table.scalar_type() == at::kFloat &&
                  positions.scalar_type() == at::kLong && positions.numel() == tokens,
              "joined_rope takes an fp32 table [positions, D/2, 2] and int64 positions, one a row, "
              "not ",
              table.sizes(), " and ", positions.sizes(), " for ", tokens, " rows");
}

Heads check_joined(const at::Tensor& qkv, const at::Tensor& table, const at::Tensor& positions,
                   int64_t heads) {
  check_type(qkv, "joined_rope's rows");
  check_angles(table, positions, qkv.size(0));
  const int64_t d = table.size(1) * 2, left = qkv.dim() == 2 ? qkv.size(1) - heads * d : -1;
  TORCH_CHECK(left > 0 && left % (2 * d) == 0,
              "joined_rope takes rows of queries, keys and values, [T, (H + 2 K) D] with H = ",
              heads, " and D = ", d, ", not ", qkv.sizes());
  return {heads, left / (2 * d), d};
}

Heads check_joined_backward(const at::Tensor& dq, const at::Tensor& dk, const at::Tensor& dv,
                            const at::Tensor& table, const at::Tensor& positions) {
  check_type(dq, "joined_rope_backward's dq");
  check_angles(table, positions, dq.size(0));
  TORCH_CHECK(dq.dim() == 3 && dk.dim() == 3 && dk.sizes() == dv.sizes() &&
                  dq.size(0) == dk.size(0) && dq.size(2) == dk.size(2) &&
                  dq.size(2) == table.size(1) * 2 && dk.scalar_type() == dq.scalar_type() &&
                  dv.scalar_type() == dq.scalar_type(),
              "joined_rope_backward takes dq [T, H, D] and dk, dv [T, K, D], not ", dq.sizes(),
              ", ", dk.sizes(), " and ", dv.sizes());
  return {dq.size(1), dk.size(1), dq.size(2)};
}

// Calls `row(t, cosines, sines)` for each token.
template <typename Row>
void for_each_row(const at::Tensor& table_in, const at::Tensor& positions_in, const Heads& heads,
                  bool inverse, Row&& row) {
  const at::Tensor table = table_in.contiguous(), positions = positions_in.contiguous();
  const int64_t* position = positions.const_data_ptr<int64_t>();
  at::parallel_for(0, positions.numel(), grain(heads.columns()), [&](int64_t begin, int64_t end) {
    std::vector<float> angles(static_cast<size_t>(2 * heads.d));
    float *cosines = angles.data(), *sines = cosines + heads.d;
    for (int64_t t = begin; t < end; ++t) {
      TORCH_CHECK(position[t] >= 0 && position[t] < table.size(0), "position ", position[t],
                  " is outside the RoPE table of ", table.size(0), " positions");
      spread(table.const_data_ptr<float>() + position[t] * heads.d, inverse ? -1.0F : 1.0F, cosines,
             sines, heads.d);
      row(t, cosines, sines);
    }
  });
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> joined_rope_cpu(const at::Tensor& qkv_in,
                                                               const at::Tensor& table,
                                                               const at::Tensor& positions,
                                                               int64_t q_heads) {
  const Heads heads = check_joined(qkv_in, table, positions, q_heads);
  const at::Tensor qkv = qkv_in.contiguous();
  const int64_t tokens = qkv.size(0), q_width = heads.q * heads.d, kv_width = heads.kv * heads.d;
  at::Tensor q = at::empty({tokens, heads.q, heads.d}, qkv.options()),
             k = at::empty({tokens, heads.kv, heads.d}, qkv.options()),
             v = at::empty({tokens, heads.kv, heads.d}, qkv.options());
  by_type(qkv, [&]<typename T>(T) {
    for_each_row(table, positions, heads, false, [&](int64_t t, const float* c, const float* s) {
      const T* row = qkv.const_data_ptr<T>() + t * heads.columns();
      prefetch(row + 2 * heads.columns(), heads.columns());
      rotate(row, c, s, q.mutable_data_ptr<T>() + t * q_width, heads.q, heads.d);
      rotate(row + q_width, c, s, k.mutable_data_ptr<T>() + t * kv_width, heads.kv, heads.d);
      std::copy_n(row + q_width + kv_width, kv_width, v.mutable_data_ptr<T>() + t * kv_width);
    });
  });
  return {q, k, v};
}

at::Tensor joined_rope_backward_cpu(const at::Tensor& dq_in, const at::Tensor& dk_in,
                                    const at::Tensor& dv_in, const at::Tensor& table,
                                    const at::Tensor& positions) {
  const Heads heads = check_joined_backward(dq_in, dk_in, dv_in, table, positions);
  const at::Tensor dq = dq_in.contiguous(), dk = dk_in.contiguous(), dv = dv_in.contiguous();
  const int64_t q_width = heads.q * heads.d, kv_width = heads.kv * heads.d;
  at::Tensor gradient = at::empty({dq.size(0), heads.columns()}, dq.options());
  by_type(dq, [&]<typename T>(T) {
    for_each_row(table, positions, heads, true, [&](int64_t t, const float* c, const float* s) {
      T* row = gradient.mutable_data_ptr<T>() + t * heads.columns();
      prefetch(row + 2 * heads.columns(), heads.columns());
      rotate(dq.const_data_ptr<T>() + t * q_width, c, s, row, heads.q, heads.d);
      rotate(dk.const_data_ptr<T>() + t * kv_width, c, s, row + q_width, heads.kv, heads.d);
      std::copy_n(dv.const_data_ptr<T>() + t * kv_width, kv_width, row + q_width + kv_width);
    });
  });
  return gradient;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> joined_rope_meta(const at::Tensor& qkv,
                                                                const at::Tensor& table,
                                                                const at::Tensor& positions,
                                                                int64_t q_heads) {
  const Heads heads = check_joined(qkv, table, positions, q_heads);
  const auto of = [&](int64_t count) {
    return at::empty({qkv.size(0), count, heads.d}, qkv.options());
  };
  return {of(heads.q), of(heads.kv), of(heads.kv)};
}

at::Tensor joined_rope_backward_meta(const at::Tensor& dq, const at::Tensor& dk,
                                     const at::Tensor& dv, const at::Tensor& table,
                                     const at::Tensor& positions) {
  const Heads heads = check_joined_backward(dq, dk, dv, table, positions);
  return at::empty({dq.size(0), heads.columns()}, dq.options());
}

using JoinedSignature = std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor&,
                                                                       const at::Tensor&,
                                                                       const at::Tensor&, int64_t);
using JoinedBackward = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                  const at::Tensor&, const at::Tensor&);

struct JoinedRope : torch::autograd::Function<JoinedRope> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const at::Tensor& qkv, const at::Tensor& table,
                                                const at::Tensor& positions, int64_t heads) {
    at::AutoDispatchBelowADInplaceOrView below;
    static const auto op = find<JoinedSignature>("heddle::joined_rope");
    context->save_for_backward({table, positions});
    auto [q, k, v] = op.call(qkv, table, positions, heads);
    return {q, k, v};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    static const auto op = find<JoinedBackward>("heddle::joined_rope_backward");
    const auto saved = context->get_saved_variables();
    return {op.call(grads[0], grads[1], grads[2], saved[0], saved[1]), {}, {}, {}};
  }
};

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
    {"heddle.joined_rope",
     {.rate_of = "heddle.rope",
      .unfused = {.bytes = 5.0, .kernels = 6},
      .scratch = &contiguous_copies}},
    {"heddle.joined_rope_backward",
     {.rate_of = "heddle.rope",
      .unfused = {.bytes = 5.0, .kernels = 6},
      .scratch = &contiguous_copies}},
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(heddle, library) {
  library.def("rope(Tensor x, Tensor table, Tensor positions, bool inverse=False) -> Tensor");
  library.def(
      "joined_rope(Tensor qkv, Tensor table, Tensor positions, int heads) -> "
      "(Tensor, Tensor, Tensor)");
  library.def(
      "joined_rope_backward(Tensor dq, Tensor dk, Tensor dv, Tensor table, Tensor positions) -> "
      "Tensor");
}
TORCH_LIBRARY_IMPL(heddle, CPU, library) {
  library.impl("rope", &rope_cpu);
  library.impl("joined_rope", &joined_rope_cpu);
  library.impl("joined_rope_backward", &joined_rope_backward_cpu);
}
TORCH_LIBRARY_IMPL(heddle, Meta, library) {
  library.impl("rope", &rope_meta);
  library.impl("joined_rope", &joined_rope_meta);
  library.impl("joined_rope_backward", &joined_rope_backward_meta);
}

at::Tensor rope(const at::Tensor& x, const at::Tensor& table, const at::Tensor& positions) {
  return Rope::apply(x, table, positions);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> joined_rope(const at::Tensor& qkv,
                                                           const at::Tensor& table,
                                                           const at::Tensor& positions,
                                                           int64_t heads) {
  const auto parts = JoinedRope::apply(qkv, table, positions, heads);
  return {parts[0], parts[1], parts[2]};
}

}  // namespace heddle::kernels
