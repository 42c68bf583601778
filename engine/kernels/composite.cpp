#include "engine/kernels/composite.h"

#include <ATen/ATen.h>

namespace heddle::kernels::composite {

using at::Tensor;

// Computed in fp32 whatever comes in and goes out, as in our own kernels.
std::tuple<Tensor, Tensor> rms_norm(const Tensor& x_in, const Tensor& weight, double eps) {
  const Tensor x = x_in.to(at::kFloat), rstd = (x.square().mean(-1) + eps).rsqrt();
  return {(x * rstd.unsqueeze(-1) * weight).to(x_in.scalar_type()), rstd};
}

std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& dy_in, const Tensor& x_in,
                                             const Tensor& weight, const Tensor& rstd) {
  const Tensor dy = dy_in.to(at::kFloat), x = x_in.to(at::kFloat);
  const Tensor r = rstd.unsqueeze(-1), wdy = dy * weight;
  const Tensor mean = (wdy * x).mean(-1, true);
  return {(r * (wdy - x * r.square() * mean)).to(x_in.scalar_type()),
          (dy * x * r).sum(0).to(weight.scalar_type())};
}

Tensor rope(const Tensor& x_in, const Tensor& table, const Tensor& positions, bool inverse) {
  const Tensor x = x_in.to(at::kFloat);
  const Tensor angles = table.index_select(0, positions.reshape({-1}))
                            .view({x.size(0), x.size(1), 1, x.size(3) / 2, 2});
  const Tensor c = angles.select(-1, 0), s = inverse ? -angles.select(-1, 1) : angles.select(-1, 1);
  const Tensor pairs = x.reshape({x.size(0), x.size(1), x.size(2), x.size(3) / 2, 2});
  const Tensor even = pairs.select(-1, 0), odd = pairs.select(-1, 1);
  return at::stack({even * c - odd * s, even * s + odd * c}, -1)
      .view(x.sizes())
      .to(x_in.scalar_type());
}

namespace {

// [B, S, K, D] → [B, H, S, D], each kv head H / K times.
Tensor heads_first(const Tensor& x, int64_t heads) {
  return x.repeat_interleave(heads / x.size(2), 2).transpose(1, 2);
}

// [B or 1, 1, S, N]: the keys that a query does not see.
Tensor unseen(const Tensor& q, const Tensor& k, const Keys& keys) {
  const auto index = q.options().dtype(at::kLong);
  Tensor key = at::arange(k.size(1), index);
  if (keys.starts) {
    const int64_t pieces = keys.starts->numel();
    key = (keys.starts->reshape({pieces, 1}) + at::arange(k.size(1) / pieces, index)).reshape({-1});
  }
  const Tensor last = keys.last ? *keys.last : at::arange(q.size(1), index).unsqueeze(0);
  Tensor outside = key.gt(last.unsqueeze(-1));
  if (keys.first) outside = outside.logical_or(key.lt(keys.first->unsqueeze(-1)));
  return outside.unsqueeze(1);
}

// [B, H, S, N].
Tensor scores(const Tensor& q, const Tensor& k, double scale) {
  return q.transpose(1, 2).matmul(heads_first(k, q.size(2)).transpose(2, 3)) * scale;
}

// [B, H, S, D] → [B, S, K, D], summed over each kv head's query heads.
Tensor heads_last(const Tensor& grad, int64_t kv_heads) {
  const Tensor x = grad.transpose(1, 2);
  return x.reshape({x.size(0), x.size(1), kv_heads, x.size(2) / kv_heads, x.size(3)}).sum(3);
}

}  // namespace

std::tuple<Tensor, Tensor> attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const Optional& first, const Optional& last,
                                     const Optional& starts, double scale) {
  const Tensor hidden = unseen(q, k, {first, last, starts});
  const Tensor s = scores(q.to(at::kFloat), k.to(at::kFloat), scale)
                       .masked_fill(hidden, -std::numeric_limits<float>::infinity());
  const Tensor logsumexp = s.logsumexp(-1);
  const Tensor p = (s - logsumexp.unsqueeze(-1)).exp().masked_fill(hidden, 0);
  const Tensor out = p.matmul(heads_first(v.to(at::kFloat), q.size(2)));
  return {out.transpose(1, 2).contiguous().to(q.scalar_type()), logsumexp};
}

std::tuple<Tensor, Tensor, Tensor> attention_backward(const Tensor& dout_in, const Tensor& q_in,
                                                      const Tensor& k_in, const Tensor& v_in,
                                                      const Tensor& out_in, const Tensor& logsumexp,
                                                      const Optional& first, const Optional& last,
                                                      const Optional& starts, double scale) {
  const Tensor q = q_in.to(at::kFloat), k = k_in.to(at::kFloat), v = v_in.to(at::kFloat);
  const Tensor d = dout_in.to(at::kFloat).transpose(1, 2),
               out = out_in.to(at::kFloat).transpose(1, 2);
  const int64_t heads = q.size(2), kv_heads = k.size(2);
  const Tensor p = (scores(q, k, scale) - logsumexp.unsqueeze(-1))
                       .exp()
                       .masked_fill(unseen(q, k, {first, last, starts}), 0);
  const Tensor dv = p.transpose(2, 3).matmul(d);
  const Tensor dp = d.matmul(heads_first(v, heads).transpose(2, 3));
  const Tensor ds = p * (dp - (d * out).sum(-1, true)) * scale;
  const Tensor dq = ds.matmul(heads_first(k, heads)),
               dk = ds.transpose(2, 3).matmul(q.transpose(1, 2));
  const c10::ScalarType type = q_in.scalar_type();
  return {dq.transpose(1, 2).contiguous().to(type), heads_last(dk, kv_heads).to(type),
          heads_last(dv, kv_heads).to(type)};
}

std::tuple<Tensor, Tensor> merge_attention(const Tensor& out_a, const Tensor& lse_a,
                                           const Tensor& out_b, const Tensor& lse_b) {
  const Tensor logsumexp = at::logaddexp(lse_a, lse_b);
  const auto share = [&](const Tensor& lse) {  // [B, H, S] → [B, S, H, 1]
    return (lse - logsumexp).exp().nan_to_num(0).transpose(1, 2).unsqueeze(-1);
  };
  const Tensor out = out_a.to(at::kFloat) * share(lse_a) + out_b.to(at::kFloat) * share(lse_b);
  return {out.to(out_a.scalar_type()), logsumexp};
}

Tensor swiglu(const Tensor& gate, const Tensor& up) {
  return (at::silu(gate.to(at::kFloat)) * up).to(gate.scalar_type());
}

std::tuple<Tensor, Tensor> swiglu_backward(const Tensor& dout_in, const Tensor& gate_in,
                                           const Tensor& up) {
  const Tensor dout = dout_in.to(at::kFloat), gate = gate_in.to(at::kFloat);
  return {at::silu_backward(dout * up, gate).to(gate_in.scalar_type()),
          (dout * at::silu(gate)).to(gate_in.scalar_type())};
}

namespace {

// Calls `each(first, rows)` for chunks of rows: only one at a time is held in fp32.
template <typename Each>
void in_chunks(int64_t rows, Each&& each) {
  constexpr int64_t kRows = 1024;
  for (int64_t first = 0; first < rows; first += kRows) each(first, std::min(kRows, rows - first));
}

}  // namespace

std::tuple<Tensor, Tensor> cross_entropy(const Tensor& logits, const Tensor& labels) {
  Tensor logsumexp = at::empty({logits.size(0)}, logits.options().dtype(at::kFloat));
  in_chunks(logits.size(0), [&](int64_t first, int64_t rows) {
    logsumexp.narrow(0, first, rows)
        .copy_(logits.narrow(0, first, rows).to(at::kFloat).logsumexp(-1));
  });
  const Tensor picked = logits.gather(-1, labels.clamp_min(0).unsqueeze(-1)).squeeze(-1);
  return {(logsumexp - picked).masked_fill(labels.lt(0), 0.0).sum(), logsumexp};
}

Tensor cross_entropy_backward(const Tensor& dloss, const Tensor& logits, const Tensor& labels,
                              const Tensor& logsumexp) {
  Tensor grad = at::empty_like(logits, at::MemoryFormat::Contiguous);
  in_chunks(logits.size(0), [&](int64_t first, int64_t rows) {
    const Tensor label = labels.narrow(0, first, rows).unsqueeze(-1);
    Tensor chunk = (logits.narrow(0, first, rows).to(at::kFloat) -
                    logsumexp.narrow(0, first, rows).unsqueeze(-1))
                       .exp();
    chunk.scatter_add_(-1, label.clamp_min(0), at::full({rows, 1}, -1.0, chunk.options()));
    grad.narrow(0, first, rows).copy_(chunk.masked_fill(label.lt(0), 0.0) * dloss);
  });
  return grad;
}

void accumulate_(Tensor sum, const Tensor& value) { sum.add_(value); }

std::vector<Tensor> squared_norms(at::TensorList tensors) {
  std::vector<Tensor> results;
  for (const Tensor& tensor : tensors) results.push_back(tensor.to(at::kDouble).square().sum());
  return results;
}

Tensor total_norm(at::TensorList squared_norms) { return at::stack(squared_norms).sum(); }

// Without a copy to the host, so that the device need not be waited for.
Tensor clip_factor(const Tensor& norm, double max_norm) {
  Tensor factor = max_norm > 0.0 ? (max_norm / (norm + 1e-6)).clamp_max(1.0) : at::ones_like(norm);
  return factor.masked_fill(norm.isfinite().logical_not(), 0.0).to(at::kFloat);
}

void adamw_(at::TensorList parameters, at::TensorList exp_avgs, at::TensorList exp_avg_sqs,
            at::TensorList grads, const Tensor& lr, const Tensor& step, const Tensor& factor,
            double beta1, double beta2, double eps, double weight_decay) {
  const Tensor keep = factor.eq(0.0), t = step.to(at::kDouble);
  const Tensor correction1 = 1.0 - at::pow(beta1, t),
               correction2 = (1.0 - at::pow(beta2, t)).sqrt().to(at::kFloat);
  const Tensor decay = (1.0 - lr * weight_decay).to(at::kFloat),
               rate = (lr / correction1).to(at::kFloat);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor grad = at::where(keep, at::zeros_like(grads[i]), grads[i] * factor);
    const Tensor m = exp_avgs[i].lerp(grad, 1.0 - beta1),
                 v = exp_avg_sqs[i] * beta2 + grad.square() * (1.0 - beta2);
    const Tensor updated = parameters[i] * decay - rate * m / (v.sqrt() / correction2 + eps);
    parameters[i].copy_(at::where(keep, parameters[i], updated));
    exp_avgs[i].copy_(at::where(keep, exp_avgs[i], m));
    exp_avg_sqs[i].copy_(at::where(keep, exp_avg_sqs[i], v));
  }
}

}  // namespace heddle::kernels::composite
