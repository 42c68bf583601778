#include "engine/kernels/composite.h"

#include <ATen/ATen.h>

#include <limits>

#include "engine/kernels/attention_blocks.h"

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

// Attention of some rows of a sequence at a time, in memory that is taken once: products of a row
// with all keys are held for so many alone. A kv head's query heads are rows of one product.
class Rows {
 public:
  Rows(const Tensor& q, const Tensor& k, const Keys& keys, int64_t products)
      : s_(q.size(1)),
        group_(q.size(2) / k.size(2)),
        kv_heads_(k.size(2)),
        d_(q.size(3)),
        n_(k.size(1)),
        most_(composite_rows(q.size(1), group_, n_)),
        scores_(at::empty({products, kv_heads_ * group_ * most_ * n_}, fp32(q))),
        heads_(at::empty({3, kv_heads_ * group_ * most_ * d_}, fp32(q))),
        unseen_(at::empty({2, most_ * n_}, q.options().dtype(at::kBool))) {
    const auto index = q.options().dtype(at::kLong);
    key_ = at::arange(n_, index);
    if (keys.starts) {
      const int64_t pieces = keys.starts->numel();
      key_ = (keys.starts->reshape({pieces, 1}) + at::arange(n_ / pieces, index)).reshape({-1});
    }
    last_ =
        keys.last ? keys.last->reshape({-1, s_}) : at::arange(s_, index).expand({q.size(0), s_});
    if (keys.first) first_ = keys.first->reshape({-1, s_});
  }

  // Calls `each(rows)` for those that one takes at a time.
  template <typename Each>
  void for_each(Each&& each) const {
    for (int64_t begin = 0; begin < s_; begin += most_)
      each(Block{begin, std::min(most_, s_ - begin)});
  }

  // [S, H, D] → fp32 [K, G · rows, D], the i-th of those that are held at a time.
  Tensor taken(const Tensor& x, const Block& rows, int64_t i) const {
    Tensor heads = heads_[i]
                       .narrow(0, 0, kv_heads_ * group_ * rows.count * d_)
                       .view({kv_heads_, group_, rows.count, d_});
    heads.copy_(by_kv_head(x, rows));
    return heads.view({kv_heads_, group_ * rows.count, d_});
  }
  // The other way.
  void put(const Tensor& heads, const Tensor& x, const Block& rows) const {
    by_kv_head(x, rows).copy_(heads.view({kv_heads_, group_, rows.count, d_}));
  }
  // For a result of `taken`'s shape.
  Tensor room(const Block& rows, int64_t i) const {
    return heads_[i]
        .narrow(0, 0, kv_heads_ * group_ * rows.count * d_)
        .view({kv_heads_, group_ * rows.count, d_});
  }
  // [H, S] → [K, G · rows, 1].
  Tensor numbers(const Tensor& x, const Block& rows) const {
    return x.narrow(1, rows.begin, rows.count).reshape({kv_heads_, group_ * rows.count, 1});
  }

  // Products of rows with all keys [N, K, D]: [K, G · rows, N], the i-th that are held.
  Tensor products(const Tensor& heads, const Tensor& keys, int64_t i) const {
    Tensor result = scores_[i]
                        .narrow(0, 0, heads.size(0) * heads.size(1) * n_)
                        .view({heads.size(0), heads.size(1), n_});
    at::bmm_out(result, heads, keys.permute({1, 2, 0}));
    return result;
  }
  // `value` where a row does not see a key.
  void fill_unseen(const Tensor& products, int64_t b, const Block& rows, double value) const {
    const auto of_rows = [&](const Tensor& x) {
      return x.select(0, b).narrow(0, rows.begin, rows.count).unsqueeze(1);
    };
    const auto room = [&](int64_t i) {
      return unseen_[i].narrow(0, 0, rows.count * n_).view({rows.count, n_});
    };
    Tensor unseen = room(0), before = room(1);
    at::gt_out(unseen, key_, of_rows(last_));
    if (first_.defined()) unseen.logical_or_(at::lt_out(before, key_, of_rows(first_)));
    products.view({kv_heads_, group_, rows.count, n_}).masked_fill_(unseen, value);
  }

 private:
  static at::TensorOptions fp32(const Tensor& like) { return like.options().dtype(at::kFloat); }
  // [S, H, D] → [K, G, rows, D].
  Tensor by_kv_head(const Tensor& x, const Block& rows) const {
    return x.narrow(0, rows.begin, rows.count)
        .view({rows.count, kv_heads_, group_, d_})
        .permute({1, 2, 0, 3});
  }

  int64_t s_, group_, kv_heads_, d_, n_, most_;
  Tensor scores_, heads_, unseen_, key_, first_, last_;
};

// heads [K, rows, D] += productsᵀ [K, N, rows] · rows, where heads lie as [N, K, D].
void add_product(const Tensor& heads, const Tensor& products, const Tensor& rows) {
  heads.transpose(0, 1).baddbmm_(products.transpose(1, 2), rows);
}

}  // namespace

std::tuple<Tensor, Tensor> attention(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                                     const Optional& first, const Optional& last,
                                     const Optional& starts, double scale) {
  const Tensor q = q_in.contiguous(), k = k_in.to(at::kFloat), v = v_in.to(at::kFloat);
  const int64_t batch = q.size(0), heads = q.size(2);
  Tensor out = at::empty_like(q),
         logsumexp = at::empty({batch, heads, q.size(1)}, q.options().dtype(at::kFloat));
  const Rows all(q, k, {first, last, starts, {}}, 1);
  for (int64_t b = 0; b < batch; ++b)
    all.for_each([&](const Block& rows) {
      const Tensor p = all.products(all.taken(q[b], rows, 0).mul_(scale), k[b], 0);
      all.fill_unseen(p, b, rows, -std::numeric_limits<double>::infinity());
      Tensor top = p.amax(-1, true);
      top.masked_fill_(top.isinf(), 0);
      const Tensor sum = p.sub_(top).exp_().sum(-1, true);
      Tensor result = all.room(rows, 1);
      at::bmm_out(result, p, v[b].transpose(0, 1)).div_(sum.masked_fill(sum.eq(0), 1));
      all.put(result, out[b], rows);
      logsumexp[b]
          .narrow(1, rows.begin, rows.count)
          .copy_(sum.log().add_(top).view({heads, rows.count}));
    });
  return {out, logsumexp};
}

std::tuple<Tensor, Tensor, Tensor> attention_backward(const Tensor& dout_in, const Tensor& q_in,
                                                      const Tensor& k_in, const Tensor& v_in,
                                                      const Tensor& out_in, const Tensor& logsumexp,
                                                      const Optional& first, const Optional& last,
                                                      const Optional& starts, double scale) {
  const Tensor dout = dout_in.contiguous(), q = q_in.contiguous(), out = out_in.contiguous(),
               k = k_in.to(at::kFloat), v = v_in.to(at::kFloat);
  Tensor dq = at::empty_like(q), dk = at::zeros_like(k), dv = at::zeros_like(v);
  const Rows all(q, k, {first, last, starts, {}}, 2);
  for (int64_t b = 0; b < q.size(0); ++b)
    all.for_each([&](const Block& rows) {
      const Tensor queries = all.taken(q[b], rows, 0).mul_(scale);
      const Tensor p = all.products(queries, k[b], 0);
      p.sub_(all.numbers(logsumexp[b], rows)).exp_();
      all.fill_unseen(p, b, rows, 0);
      const Tensor results = all.taken(out[b], rows, 2), d = all.taken(dout[b], rows, 1);
      const Tensor ds = all.products(d, v[b], 1);
      ds.sub_(results.mul_(d).sum(-1, true)).mul_(p);
      add_product(dv[b], p, d);
      add_product(dk[b], ds, queries);
      Tensor dqueries = all.room(rows, 1);
      at::bmm_out(dqueries, ds, k[b].transpose(0, 1)).mul_(scale);
      all.put(dqueries, dq[b], rows);
    });
  return {dq, dk.to(k_in.scalar_type()), dv.to(v_in.scalar_type())};
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

}  // namespace heddle::kernels::composite
