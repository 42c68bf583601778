// Heddle's operators on a GPU: tensors in, kernels of engine/kernels put in the current stream.
#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "engine/cuda/attention.h"
#include "engine/kernels/launch.h"
#include "engine/kernels/update.h"

namespace heddle::cuda {
namespace {

using at::Tensor;
using at::TensorList;
using kernels::cuda::kListed;
using kernels::cuda::ListBlocks;
using kernels::cuda::Type;
namespace launch = kernels::cuda;

Type type_of(const Tensor& tensor) {
  TORCH_CHECK(tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kBFloat16,
              "Heddle's operators take fp32 or bf16, not ", tensor.scalar_type());
  return tensor.scalar_type() == at::kFloat ? Type::fp32 : Type::bf16;
}

void check_same(const char* what, const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type(), what,
              " takes tensors of one shape and type, not ", a.scalar_type(), " ", a.sizes(),
              " and ", b.scalar_type(), " ", b.sizes());
}

cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream(); }

// Puts kernels in the stream by `start`.
template <typename Start>
void start(Start&& start) {
  start();
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

Tensor floats(at::IntArrayRef sizes, const Tensor& like) {
  return at::empty(sizes, like.options().dtype(at::kFloat));
}

void check_norm(const Tensor& x, const Tensor& weight) {
  TORCH_CHECK(x.dim() == 2 && weight.dim() == 1 && weight.size(0) == x.size(1),
              "rms_norm takes x [T, dim] and weight [dim], not ", x.sizes(), " and ",
              weight.sizes());
}

std::tuple<Tensor, Tensor> rms_norm(const Tensor& x_in, const Tensor& weight_in, double eps) {
  const Tensor x = x_in.contiguous(), weight = weight_in.contiguous();
  check_norm(x, weight);
  Tensor y = at::empty_like(x), rstd = floats({x.size(0)}, x);
  start([&] {
    launch::rms_norm(type_of(x), type_of(weight), x.const_data_ptr(), weight.const_data_ptr(),
                     y.mutable_data_ptr(), rstd.mutable_data_ptr<float>(), x.size(0), x.size(1),
                     eps, stream());
  });
  return {y, rstd};
}

// Other sums than of two alike are made by themselves.
bool add_rows(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() && a.is_contiguous() &&
         b.is_contiguous();
}

std::tuple<Tensor, Tensor, Tensor> add_rms_norm(const Tensor& x, const Tensor& other,
                                                const Tensor& weight_in, double eps) {
  if (!add_rows(x, other)) {
    const Tensor sum = at::add(x, other);
    const auto [y, rstd] = rms_norm(sum, weight_in, eps);
    return {y, rstd, sum};
  }
  const Tensor weight = weight_in.contiguous();
  check_norm(x, weight);
  Tensor y = at::empty_like(x), rstd = floats({x.size(0)}, x), sum = at::empty_like(x);
  start([&] {
    launch::add_rms_norm(type_of(x), type_of(weight), x.const_data_ptr(), other.const_data_ptr(),
                         weight.const_data_ptr(), y.mutable_data_ptr(),
                         rstd.mutable_data_ptr<float>(), sum.mutable_data_ptr(), x.size(0),
                         x.size(1), eps, stream());
  });
  return {y, rstd, sum};
}

std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& dy_in, const Tensor& x_in,
                                             const Tensor& weight_in, const Tensor& rstd_in) {
  const Tensor dy = dy_in.contiguous(), x = x_in.contiguous(), weight = weight_in.contiguous(),
               rstd = rstd_in.contiguous();
  check_same("rms_norm_backward", dy, x);
  Tensor dx = at::empty_like(x), dweight = at::empty_like(weight);
  Tensor partial = floats({launch::norm_blocks(x.size(0)), x.size(1)}, x);
  start([&] {
    launch::rms_norm_backward(type_of(x), type_of(weight), dy.const_data_ptr(), x.const_data_ptr(),
                              weight.const_data_ptr(), rstd.const_data_ptr<float>(),
                              dx.mutable_data_ptr(), dweight.mutable_data_ptr(),
                              partial.mutable_data_ptr<float>(), x.size(0), x.size(1), stream());
  });
  return {dx, dweight};
}

std::tuple<Tensor, Tensor> rms_norm_backward_add(const Tensor& dy_in, const Tensor& x,
                                                 const Tensor& weight_in, const Tensor& rstd_in,
                                                 const Tensor& other) {
  if (!add_rows(x, other)) {
    const auto [dx, dweight] = rms_norm_backward(dy_in, x, weight_in, rstd_in);
    return {at::add(other, dx), dweight};
  }
  const Tensor dy = dy_in.contiguous(), weight = weight_in.contiguous(),
               rstd = rstd_in.contiguous();
  check_same("rms_norm_backward_add", dy, x);
  Tensor dx = at::empty_like(x), dweight = at::empty_like(weight);
  Tensor partial = floats({launch::norm_blocks(x.size(0)), x.size(1)}, x);
  start([&] {
    launch::rms_norm_backward_add(
        type_of(x), type_of(weight), dy.const_data_ptr(), x.const_data_ptr(),
        weight.const_data_ptr(), rstd.const_data_ptr<float>(), other.const_data_ptr(),
        dx.mutable_data_ptr(), dweight.mutable_data_ptr(), partial.mutable_data_ptr<float>(),
        x.size(0), x.size(1), stream());
  });
  return {dx, dweight};
}

Tensor rope(const Tensor& x_in, const Tensor& table_in, const Tensor& positions_in, bool inverse) {
  const Tensor x = x_in.contiguous(), table = table_in.contiguous(),
               positions = positions_in.contiguous();
  TORCH_CHECK(x.dim() == 4 && table.dim() == 3 && table.size(1) * 2 == x.size(3) &&
                  positions.numel() == x.size(0) * x.size(1),
              "rope takes x [B, S, H, D], table [positions, D/2, 2] and positions [B, S], not ",
              x.sizes(), ", ", table.sizes(), " and ", positions.sizes());
  Tensor y = at::empty_like(x);
  start([&] {
    launch::rope(type_of(x), x.const_data_ptr(), table.const_data_ptr<float>(),
                 positions.const_data_ptr<int64_t>(), y.mutable_data_ptr(), x.size(0) * x.size(1),
                 x.size(2), x.size(3), table.size(0), inverse, stream());
  });
  return y;
}

std::tuple<Tensor, Tensor, Tensor> joined_rope(const Tensor& qkv_in, const Tensor& table_in,
                                               const Tensor& positions_in, int64_t heads) {
  const Tensor qkv = qkv_in.contiguous(), table = table_in.contiguous(),
               positions = positions_in.contiguous();
  const int64_t tokens = qkv.size(0), d = table.size(1) * 2, left = qkv.size(1) - heads * d;
  TORCH_CHECK(
      left > 0 && left % (2 * d) == 0 && positions.numel() == tokens,
      "joined_rope takes rows of queries, keys and values, [T, (H + 2 K) D] with H = ", heads,
      " and D = ", d, ", and a position each, not ", qkv.sizes(), " and ", positions.sizes());
  const int64_t kv_heads = left / (2 * d);
  Tensor q = at::empty({tokens, heads, d}, qkv.options()),
         k = at::empty({tokens, kv_heads, d}, qkv.options()), v = at::empty_like(k);
  start([&] {
    launch::joined_rope(type_of(qkv), qkv.const_data_ptr(), table.const_data_ptr<float>(),
                        positions.const_data_ptr<int64_t>(), q.mutable_data_ptr(),
                        k.mutable_data_ptr(), v.mutable_data_ptr(), tokens, heads, kv_heads, d,
                        table.size(0), stream());
  });
  return {q, k, v};
}

Tensor joined_rope_backward(const Tensor& dq_in, const Tensor& dk_in, const Tensor& dv_in,
                            const Tensor& table_in, const Tensor& positions_in) {
  const Tensor dq = dq_in.contiguous(), dk = dk_in.contiguous(), dv = dv_in.contiguous(),
               table = table_in.contiguous(), positions = positions_in.contiguous();
  check_same("joined_rope_backward", dk, dv);
  TORCH_CHECK(dq.dim() == 3 && dk.dim() == 3 && dk.size(0) == dq.size(0) &&
                  dq.size(2) == table.size(1) * 2 && dk.size(2) == dq.size(2) &&
                  positions.numel() == dq.size(0),
              "joined_rope_backward takes dq [T, H, D] and dk, dv [T, K, D], not ", dq.sizes(),
              " and ", dk.sizes());
  const int64_t heads = dq.size(1), kv_heads = dk.size(1), d = dq.size(2);
  Tensor gradient = at::empty({dq.size(0), (heads + 2 * kv_heads) * d}, dq.options());
  start([&] {
    launch::joined_rope_backward(type_of(dq), dq.const_data_ptr(), dk.const_data_ptr(),
                                 dv.const_data_ptr(), table.const_data_ptr<float>(),
                                 positions.const_data_ptr<int64_t>(), gradient.mutable_data_ptr(),
                                 dq.size(0), heads, kv_heads, d, table.size(0), stream());
  });
  return gradient;
}

std::tuple<Tensor, Tensor> merge_attention(const Tensor& out_a, const Tensor& lse_a,
                                           const Tensor& out_b, const Tensor& lse_b) {
  const Tensor a = out_a.contiguous(), b = out_b.contiguous(), left = lse_a.contiguous(),
               right = lse_b.contiguous();
  check_same("merge_attention", a, b);
  check_same("merge_attention", left, right);
  Tensor out = at::empty_like(a), logsumexp = at::empty_like(left);
  start([&] {
    launch::merge_attention(type_of(a), a.const_data_ptr(), left.const_data_ptr<float>(),
                            b.const_data_ptr(), right.const_data_ptr<float>(),
                            out.mutable_data_ptr(), logsumexp.mutable_data_ptr<float>(),
                            a.size(0) * a.size(1), a.size(1), a.size(2), a.size(3), stream());
  });
  return {out, logsumexp};
}

Tensor swiglu(const Tensor& gate_in, const Tensor& up_in) {
  const Tensor gate = gate_in.contiguous(), up = up_in.contiguous();
  check_same("swiglu", gate, up);
  Tensor out = at::empty_like(gate);
  start([&] {
    launch::swiglu(type_of(gate), gate.const_data_ptr(), up.const_data_ptr(),
                   out.mutable_data_ptr(), gate.numel(), stream());
  });
  return out;
}

std::tuple<Tensor, Tensor> swiglu_backward(const Tensor& dout_in, const Tensor& gate_in,
                                           const Tensor& up_in) {
  const Tensor dout = dout_in.contiguous(), gate = gate_in.contiguous(), up = up_in.contiguous();
  check_same("swiglu_backward", gate, up);
  check_same("swiglu_backward", dout, gate);
  Tensor dgate = at::empty_like(gate), dup = at::empty_like(up);
  start([&] {
    launch::swiglu_backward(type_of(gate), dout.const_data_ptr(), gate.const_data_ptr(),
                            up.const_data_ptr(), dgate.mutable_data_ptr(), dup.mutable_data_ptr(),
                            gate.numel(), stream());
  });
  return {dgate, dup};
}

Tensor joined_swiglu(const Tensor& gate_and_up_in) {
  const Tensor gate_and_up = gate_and_up_in.contiguous();
  TORCH_CHECK(gate_and_up.dim() == 2 && gate_and_up.size(1) % 2 == 0,
              "joined_swiglu takes rows of gate and up, [T, 2 F], not ", gate_and_up.sizes());
  const int64_t rows = gate_and_up.size(0), width = gate_and_up.size(1) / 2;
  Tensor out = at::empty({rows, width}, gate_and_up.options());
  start([&] {
    launch::joined_swiglu(type_of(out), gate_and_up.const_data_ptr(), out.mutable_data_ptr(), rows,
                          width, stream());
  });
  return out;
}

Tensor joined_swiglu_backward(const Tensor& dout_in, const Tensor& gate_and_up_in) {
  const Tensor dout = dout_in.contiguous(), gate_and_up = gate_and_up_in.contiguous();
  TORCH_CHECK(dout.dim() == 2 && gate_and_up.dim() == 2 && dout.size(0) == gate_and_up.size(0) &&
                  2 * dout.size(1) == gate_and_up.size(1) &&
                  dout.scalar_type() == gate_and_up.scalar_type(),
              "joined_swiglu_backward takes dout [T, F] beside rows [T, 2 F], not ", dout.sizes(),
              " and ", gate_and_up.sizes());
  Tensor gradient = at::empty_like(gate_and_up);
  start([&] {
    launch::joined_swiglu_backward(type_of(dout), dout.const_data_ptr(),
                                   gate_and_up.const_data_ptr(), gradient.mutable_data_ptr(),
                                   dout.size(0), dout.size(1), stream());
  });
  return gradient;
}

std::tuple<Tensor, Tensor> cross_entropy(const Tensor& logits_in, const Tensor& labels_in) {
  const Tensor logits = logits_in.contiguous(), labels = labels_in.contiguous();
  TORCH_CHECK(logits.dim() == 2 && labels.dim() == 1 && labels.size(0) == logits.size(0),
              "cross_entropy takes logits [T, V] and labels [T], not ", logits.sizes(), " and ",
              labels.sizes());
  Tensor loss = floats({}, logits), logsumexp = floats({logits.size(0)}, logits);
  start([&] {
    launch::cross_entropy(type_of(logits), logits.const_data_ptr(),
                          labels.const_data_ptr<int64_t>(), loss.mutable_data_ptr<float>(),
                          logsumexp.mutable_data_ptr<float>(), logits.size(0), logits.size(1),
                          stream());
  });
  return {loss, logsumexp};
}

Tensor cross_entropy_backward(const Tensor& dloss, const Tensor& logits_in, const Tensor& labels_in,
                              const Tensor& logsumexp) {
  const Tensor logits = logits_in.contiguous(), labels = labels_in.contiguous();
  Tensor dlogits = at::empty_like(logits);
  start([&] {
    launch::cross_entropy_backward(type_of(logits), dloss.const_data_ptr<float>(),
                                   logits.const_data_ptr(), labels.const_data_ptr<int64_t>(),
                                   logsumexp.const_data_ptr<float>(), dlogits.mutable_data_ptr(),
                                   logits.size(0), logits.size(1), stream());
  });
  return dlogits;
}

Tensor vocabulary_statistics(const Tensor& logits_in, const Tensor& labels_in, const Tensor& begin,
                             int64_t vocabulary) {
  const Tensor logits = logits_in.contiguous(), labels = labels_in.contiguous();
  Tensor numbers = floats({logits.size(0), 3}, logits);
  start([&] {
    launch::vocabulary_statistics(type_of(logits), logits.const_data_ptr(),
                                  labels.const_data_ptr<int64_t>(), begin.const_data_ptr<int64_t>(),
                                  numbers.mutable_data_ptr<float>(), logits.size(0), logits.size(1),
                                  vocabulary, stream());
  });
  return numbers;
}

std::tuple<Tensor, Tensor> joined_cross_entropy(const Tensor& numbers_in, const Tensor& labels_in) {
  const Tensor numbers = numbers_in.contiguous(), labels = labels_in.contiguous();
  const int64_t rows = labels.size(0);
  Tensor loss = floats({}, numbers), logsumexp = floats({rows}, numbers);
  start([&] {
    launch::joined_cross_entropy(numbers.const_data_ptr<float>(), labels.const_data_ptr<int64_t>(),
                                 loss.mutable_data_ptr<float>(),
                                 logsumexp.mutable_data_ptr<float>(), rows,
                                 numbers.size(0) / std::max<int64_t>(rows, 1), stream());
  });
  return {loss, logsumexp};
}

Tensor vocabulary_cross_entropy_backward(const Tensor& dloss, const Tensor& logits_in,
                                         const Tensor& labels_in, const Tensor& begin,
                                         const Tensor& logsumexp, int64_t vocabulary) {
  const Tensor logits = logits_in.contiguous(), labels = labels_in.contiguous();
  Tensor dlogits = at::empty_like(logits);
  start([&] {
    launch::vocabulary_cross_entropy_backward(
        type_of(logits), dloss.const_data_ptr<float>(), logits.const_data_ptr(),
        labels.const_data_ptr<int64_t>(), begin.const_data_ptr<int64_t>(),
        logsumexp.const_data_ptr<float>(), dlogits.mutable_data_ptr(), logits.size(0),
        logits.size(1), vocabulary, stream());
  });
  return dlogits;
}

Tensor mm_to(const Tensor& a, const Tensor& b, at::ScalarType dtype) {
  if (a.scalar_type() == at::kBFloat16 && dtype == at::kFloat) return at::mm(a, b, dtype);
  return a.mm(b).to(dtype);
}

void add_mm_(const Tensor& a, const Tensor& b, Tensor sum) {
  if (a.scalar_type() == at::kBFloat16) {
    at::addmm_out(sum, sum, a, b, at::kFloat);
  } else {
    sum.addmm_(a, b);
  }
}

void accumulate_(Tensor sum, const Tensor& value_in) {
  const Tensor value = value_in.contiguous();
  TORCH_CHECK(
      sum.scalar_type() == at::kFloat && sum.is_contiguous() && sum.sizes() == value.sizes(),
      "accumulate_ takes a contiguous fp32 sum and a value of its shape, not ", sum.scalar_type(),
      " ", sum.sizes(), " and ", value.sizes());
  start([&] {
    launch::accumulate(type_of(value), sum.mutable_data_ptr<float>(), value.const_data_ptr(),
                       sum.numel(), stream());
  });
}

// Calls `each(first, count)` for parts of a list that a launch takes.
template <typename Each>
void in_launches(size_t listed, Each&& each) {
  for (size_t first = 0; first < listed; first += kListed)
    each(first, std::min<size_t>(kListed, listed - first));
}

std::vector<Tensor> squared_norms(TensorList tensors_in) {
  std::vector<Tensor> tensors, results;
  for (const Tensor& tensor : tensors_in) {
    tensors.push_back(tensor.contiguous());
    TORCH_CHECK(tensor.scalar_type() == tensors_in.front().scalar_type(),
                "squared_norms takes tensors of one type");
    results.push_back(at::empty({}, tensor.options().dtype(at::kDouble)));
  }
  in_launches(tensors.size(), [&](size_t first, size_t count) {
    ListBlocks blocks{.chunk = kernels::cuda::kListChunk};
    launch::Inputs inputs{};
    launch::Results sums{};
    for (size_t i = 0; i < count; ++i) {
      blocks.add(tensors[first + i].numel());
      inputs.of[i] = tensors[first + i].const_data_ptr();
      sums.of[i] = results[first + i].mutable_data_ptr<double>();
    }
    Tensor partial = at::empty({blocks.blocks()}, results.front().options());
    start([&] {
      launch::squared_norms(type_of(tensors.front()), blocks, inputs, sums,
                            partial.mutable_data_ptr<double>(), stream());
    });
  });
  return results;
}

std::vector<Tensor> cast_list(TensorList values_in, at::ScalarType dtype) {
  std::vector<Tensor> values, results;
  for (const Tensor& value : values_in) {
    TORCH_CHECK(value.scalar_type() != dtype, "cast_list takes no tensor that is ", dtype);
    values.push_back(value.contiguous());
    results.push_back(at::empty(value.sizes(), value.options().dtype(dtype)));
  }
  in_launches(values.size(), [&](size_t first, size_t count) {
    ListBlocks blocks{.chunk = kernels::cuda::kListChunk};
    launch::Inputs inputs{};
    launch::Outputs outputs{};
    for (size_t i = 0; i < count; ++i) {
      blocks.add(values[first + i].numel());
      inputs.of[i] = values[first + i].const_data_ptr();
      outputs.of[i] = results[first + i].mutable_data_ptr();
    }
    start([&] {
      const Type from = type_of(results.front()) == Type::fp32 ? Type::bf16 : Type::fp32;
      launch::cast_list(from, blocks, inputs, outputs, stream());
    });
  });
  return results;
}

Tensor total_norm(TensorList squared_norms) {
  TORCH_CHECK(!squared_norms.empty(), "total_norm takes at least one tensor");
  Tensor total = at::empty({}, squared_norms.front().options().dtype(at::kDouble));
  in_launches(squared_norms.size(), [&](size_t first, size_t count) {
    launch::Inputs inputs{};
    for (size_t i = 0; i < count; ++i)
      inputs.of[i] = squared_norms[first + i].const_data_ptr<double>();
    start([&] {
      launch::total_norm(inputs, static_cast<int>(count), total.mutable_data_ptr<double>(),
                         first > 0, stream());
    });
  });
  return total;
}

Tensor clip_factor(const Tensor& norm, double max_norm) {
  Tensor factor = floats({}, norm);
  start([&] {
    launch::clip_factor(norm.const_data_ptr<double>(), max_norm, factor.mutable_data_ptr<float>(),
                        stream());
  });
  return factor;
}

template <launch::Update* Start>
void update(const kernels::UpdateCall& call) {
  TORCH_CHECK(call.written.size() <= 1 + launch::kUpdateStates, "an update of more states than ",
              launch::kUpdateStates);
  launch::UpdateRates rates{call.lr.const_data_ptr<double>(),
                            call.step.const_data_ptr<int64_t>(),
                            call.factor.const_data_ptr<float>(),
                            {}};
  TORCH_CHECK(call.settings.size() <= std::size(rates.settings),
              "an update with more settings than ", std::size(rates.settings));
  std::ranges::copy(call.settings, rates.settings);
  in_launches(call.grads.size(), [&](size_t first, size_t count) {
    ListBlocks blocks{.chunk = kernels::cuda::kListChunk};
    launch::UpdateInputs inputs{};
    std::vector<Tensor> contiguous;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = first + i;
      contiguous.push_back(call.grads[at].contiguous());
      blocks.add(contiguous.back().numel());
      inputs.parameter[i] = call.written[0][at].mutable_data_ptr<float>();
      for (size_t state = 1; state < call.written.size(); ++state)
        inputs.state[state - 1][i] = call.written[state][at].mutable_data_ptr<float>();
      inputs.grad[i] = contiguous.back().const_data_ptr<float>();
    }
    start([&] { Start(blocks, inputs, rates, stream()); });
  });
}

}  // namespace

TORCH_LIBRARY_IMPL(heddle, CUDA, library) {
  library.impl("rms_norm", &rms_norm);
  library.impl("rms_norm_backward", &rms_norm_backward);
  library.impl("add_rms_norm", &add_rms_norm);
  library.impl("rms_norm_backward_add", &rms_norm_backward_add);
  library.impl("rope", &rope);
  library.impl("joined_rope", &joined_rope);
  library.impl("joined_rope_backward", &joined_rope_backward);
  library.impl("attention", &attention);
  library.impl("attention_backward", &attention_backward);
  library.impl("merge_attention", &merge_attention);
  library.impl("swiglu", &swiglu);
  library.impl("swiglu_backward", &swiglu_backward);
  library.impl("joined_swiglu", &joined_swiglu);
  library.impl("joined_swiglu_backward", &joined_swiglu_backward);
  library.impl("cross_entropy", &cross_entropy);
  library.impl("cross_entropy_backward", &cross_entropy_backward);
  library.impl("vocabulary_statistics", &vocabulary_statistics);
  library.impl("joined_cross_entropy", &joined_cross_entropy);
  library.impl("vocabulary_cross_entropy_backward", &vocabulary_cross_entropy_backward);
  library.impl("accumulate_", &accumulate_);
  library.impl("squared_norms", &squared_norms);
  library.impl("cast_list", &cast_list);
  library.impl("mm_to", &mm_to);
  library.impl("add_mm_", &add_mm_);
  library.impl("total_norm", &total_norm);
  library.impl("clip_factor", &clip_factor);
  library.impl("adamw_", kernels::update_kernel<&update<&launch::adamw>>());
  library.impl("sgd_", kernels::update_kernel<&update<&launch::sgd>>());
}

}  // namespace heddle::cuda
