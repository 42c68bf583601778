// Attention in pieces against the dense formula: the CPU's kernel computes the pieces here, flash
// attention and cuDNN's do on a GPU.
#include "engine/kernels/attention_pieces.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>

#include <QTest>

#include "engine/kernels/operators.h"
#include "engine/parallel/context_parallel.h"
#include "tests/support/test_class.h"

using namespace heddle;
using namespace heddle::kernels;
using at::Tensor;
using recipe::ContextMode;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kScale = 0.3;

/// The pieces by the CPU's kernel; where a library may leave anything, NaN.
struct ByCpu {
  struct Scratch {
    Scratch() {}  // not trivial, so that it is no unused variable
  };

  static Keys keys_of(const OwnKeys& own) {
    if (!own.first) return {};
    const int64_t n = own.first->size(1);
    return kernels::keys_of(*own.first, at::arange(n).unsqueeze(0), {}, n);
  }
  static bool is_absent(const OwnKeys& own) {
    return own.first && own.segments.found[0].item<int32_t>() == 0;
  }
  static Keys keys_of(const SeenRange& range, const Tensor& q, const Tensor& k) {
    const int64_t n = q.size(1);
    Tensor first = at::zeros({1, n}, at::kLong), last = at::full({1, n}, k.size(1) - 1, at::kLong);
    if (range.queries) {
      const auto end = [](const Optional& ends, int64_t i) { return (*ends)[i].item<int64_t>(); };
      const int64_t from = end(range.queries, 1), until = end(range.queries, 2);
      first.fill_(1);
      last.fill_(0);
      first.narrow(1, from, until - from).fill_(end(range.keys, 1));
      last.narrow(1, from, until - from).fill_(end(range.keys, 2) - 1);
    }
    return kernels::keys_of(first, last, {}, k.size(1));
  }

  static std::tuple<Tensor, Tensor> documents(const Tensor& q, const Tensor& k, const Tensor& v,
                                              const OwnKeys& own, double scale) {
    auto [out, lse] = attention_part(q, k, v, keys_of(own), scale);
    if (is_absent(own)) return {at::full_like(out, kNaN), at::full_like(lse, kNaN)};
    return {out, lse};
  }
  static std::tuple<Tensor, Tensor, Tensor> documents_backward(const Tensor& dout, const Tensor& q,
                                                               const Tensor& k, const Tensor& v,
                                                               const Tensor& out, const Tensor& lse,
                                                               const OwnKeys& own, double scale) {
    auto [dq, dk, dv] = attention_part_backward(dout, q, k, v, out, lse, keys_of(own), scale);
    if (!is_absent(own)) return {dq, dk, dv};
    return {at::full_like(dq, kNaN), at::full_like(dk, kNaN), at::full_like(dv, kNaN)};
  }
  static std::tuple<Tensor, Tensor> range(const Tensor& q, const Tensor& k, const Tensor& v,
                                          const SeenRange& seen, double scale) {
    return attention_part(q, k, v, keys_of(seen, q, k), scale);
  }
  static std::tuple<Tensor, Tensor, Tensor> range_backward(const Tensor& dout, const Tensor& q,
                                                           const Tensor& k, const Tensor& v,
                                                           const Tensor& out, const Tensor& lse,
                                                           const SeenRange& seen, double scale) {
    return attention_part_backward(dout, q, k, v, out, lse, keys_of(seen, q, k), scale);
  }
};

/// Computes nothing.
struct Idle {
  struct Scratch {
    Scratch() {}
  };
  using Result = std::tuple<Tensor, Tensor>;
  using Gradients = std::tuple<Tensor, Tensor, Tensor>;

  static Result result(const Tensor& q) {
    return {at::zeros_like(q), at::zeros({1, q.size(2), q.size(1)})};
  }
  static Result documents(const Tensor& q, const Tensor&, const Tensor&, const OwnKeys&, double) {
    return result(q);
  }
  static Result range(const Tensor& q, const Tensor&, const Tensor&, const SeenRange&, double) {
    return result(q);
  }
  static Gradients documents_backward(const Tensor&, const Tensor& q, const Tensor& k,
                                      const Tensor& v, const Tensor&, const Tensor&, const OwnKeys&,
                                      double) {
    return {at::zeros_like(q), at::zeros_like(k), at::zeros_like(v)};
  }
  static Gradients range_backward(const Tensor&, const Tensor& q, const Tensor& k, const Tensor& v,
                                  const Tensor&, const Tensor&, const SeenRange&, double) {
    return {at::zeros_like(q), at::zeros_like(k), at::zeros_like(v)};
  }
};

/// A batch of sequences with documents in them, and what the dense formula makes of it in fp64.
struct Dense {
  Tensor q, k, v, dout, first, last;  // first, last [B, S]
  Tensor out, logsumexp, dq, dk, dv;

  Dense(int64_t tokens, int64_t documents, at::ScalarType type) {
    constexpr int64_t kBatch = 2, kHeads = 4, kKvHeads = 2, kHeadDim = 8;
    const auto randn = [&](int64_t heads) {
      return at::randn({kBatch, tokens, heads, kHeadDim}).to(type);
    };
    q = randn(kHeads);
    k = randn(kKvHeads);
    v = randn(kKvHeads);
    dout = randn(kHeads);
    last = at::arange(tokens).expand({kBatch, tokens}).contiguous();
    // Each sequence has its own documents: their begins are drawn, and 0.
    Tensor begins = at::zeros({kBatch, tokens}, at::kLong);
    for (int64_t b = 0; b < kBatch; ++b)
      begins[b].index_fill_(0, at::randperm(tokens, at::kLong).narrow(0, 0, documents - 1), 1);
    first = std::get<0>((begins * last).cummax(1));

    const auto wide = [&](const Tensor& x) { return x.to(at::kDouble).transpose(1, 2); };
    const auto expanded = [&](const Tensor& x) {
      return wide(x).repeat_interleave(kHeads / kKvHeads, 1);
    };
    const auto summed = [&](const Tensor& x) {
      return x.unflatten(1, {kKvHeads, kHeads / kKvHeads}).sum(2).transpose(1, 2);
    };
    const Tensor key = at::arange(tokens);
    const Tensor hidden =
        key.lt(first.unsqueeze(2)).logical_or_(key.gt(last.unsqueeze(2))).unsqueeze(1);
    const Tensor scores = (wide(q).matmul(expanded(k).transpose(2, 3)) * kScale)
                              .masked_fill(hidden, -std::numeric_limits<double>::infinity());
    const Tensor p = scores.softmax(-1), d = wide(dout);
    const Tensor result = p.matmul(expanded(v));
    out = result.transpose(1, 2);
    logsumexp = scores.logsumexp(-1);
    const Tensor ds =
        p * (d.matmul(expanded(v).transpose(2, 3)) - (d * result).sum(-1, true)) * kScale;
    dq = ds.matmul(expanded(k)).transpose(1, 2);
    dk = summed(ds.transpose(2, 3).matmul(wide(q)));
    dv = summed(p.transpose(2, 3).matmul(d));
  }
};

struct Call {
  Tensor q, k, v;
  Optional first, last, starts;

  Keys keys() const { return first ? keys_of(*first, *last, starts, k.size(1)) : Keys(); }
  // Small enough that there are many pieces.
  PiecedCall in_pieces() const {
    const Cuts cuts{.queries = 40, .keys = 72, .keys_backward = 56, .whole = 100};
    Optional sight;
    if (first) sight = sight_of(*first, *last, starts, k.size(1), cuts);
    return {q, k, v, starts ? starts->numel() : 0, sight, kScale, cuts};
  }
};

using Forward = std::tuple<Tensor, Tensor> (*)(const Call&);
using Backward = std::tuple<Tensor, Tensor, Tensor> (*)(const Call&, const Tensor& dout,
                                                        const Tensor& out, const Tensor& lse);

/// How a call is computed: by the operator itself, or in pieces.
struct Way {
  Forward forward;
  Backward backward;
};
const Way kOperator = {
    [](const Call& call) { return attention_part(call.q, call.k, call.v, call.keys(), kScale); },
    [](const Call& call, const Tensor& dout, const Tensor& out, const Tensor& lse) {
      return attention_part_backward(dout, call.q, call.k, call.v, out, lse, call.keys(), kScale);
    }};
const Way kPieces = {
    [](const Call& call) { return attention_in_pieces<ByCpu>(call.in_pieces()); },
    [](const Call& call, const Tensor& dout, const Tensor& out, const Tensor& lse) {
      return attention_in_pieces_backward<ByCpu>(call.in_pieces(), dout, out, lse);
    }};

/// All ranks' results, put back in the sequences' order; gradients of keys are summed over ranks.
struct Found {
  Tensor out, logsumexp, dq, dk, dv;
};

struct Ranks {
  const Dense& dense;
  int64_t cp;
  ContextMode mode;
  Way way;

  Tensor tokens(int64_t rank) const {
    return at::tensor(parallel::tokens_of(rank, cp, mode, dense.q.size(1)));
  }
  Tensor starts(int64_t rank) const {
    return at::tensor(parallel::key_starts_of(rank, cp, mode, dense.q.size(1)));
  }

  // The keys that rank `rank` gets to see in one go: all of them in rank order, or one rank's in a
  // step of a ring.
  Found run() const {
    const auto fp32 = at::kFloat;
    Found found{at::zeros_like(dense.out, fp32), at::zeros_like(dense.logsumexp, fp32),
                at::zeros_like(dense.dq, fp32), at::zeros_like(dense.dk, fp32),
                at::zeros_like(dense.dv, fp32)};
    for (int64_t rank = 0; rank < cp; ++rank) {
      if (mode == ContextMode::ulysses) {
        by_heads(found, rank);
      } else {
        by_tokens(found, rank);
      }
    }
    return found;
  }

 private:
  // Heads of two ranks' worth of kv heads at most: as many calls as there are kv heads.
  void by_heads(Found& found, int64_t rank) const {
    const int64_t kv_heads = dense.k.size(2), group = dense.q.size(2) / kv_heads;
    if (rank >= kv_heads) return;
    const auto query_heads = [&](const Tensor& x) {
      return x.narrow(2, rank * group, group).contiguous();
    };
    const auto kv_head = [&](const Tensor& x) { return x.narrow(2, rank, 1).contiguous(); };
    const Call call{query_heads(dense.q), kv_head(dense.k), kv_head(dense.v),
                    dense.first,          dense.last,       {}};
    const auto [out, lse] = way.forward(call);
    const auto [dq, dk, dv] = way.backward(call, query_heads(dense.dout), out, lse);
    found.out.narrow(2, rank * group, group).copy_(out);
    found.logsumexp.narrow(1, rank * group, group).copy_(lse);
    found.dq.narrow(2, rank * group, group).copy_(dq);
    found.dk.narrow(2, rank, 1).copy_(dk);
    found.dv.narrow(2, rank, 1).copy_(dv);
  }

  void by_tokens(Found& found, int64_t rank) const {
    const Tensor own = tokens(rank), first = dense.first.index_select(1, own),
                 last = dense.last.index_select(1, own), q = dense.q.index_select(1, own),
                 dout = dense.dout.index_select(1, own);
    std::vector<Tensor> keys, begins;  // of each call: which tokens, and where their pieces begin
    const Tensor all = starts(rank);
    if (mode == ContextMode::allgather) {
      std::vector<Tensor> ranks;
      for (int64_t each = 0; each < cp; ++each) ranks.push_back(tokens(each));
      keys = {at::cat(ranks)};
      begins = {all};
    } else {
      for (int64_t step = 0; step < cp; ++step) {
        keys.push_back(tokens((rank - step + cp) % cp));
        begins.push_back(all.view({cp, 2}).select(0, step));
      }
    }
    std::vector<Call> calls;
    for (size_t i = 0; i < keys.size(); ++i)
      calls.push_back({q, dense.k.index_select(1, keys[i]), dense.v.index_select(1, keys[i]), first,
                       last, begins[i]});
    Tensor out, lse;
    for (const Call& call : calls) {
      const auto [part, part_lse] = way.forward(call);
      std::tie(out, lse) =
          out.defined() ? merge_attention(out, lse, part, part_lse) : std::tuple(part, part_lse);
    }
    Tensor dq_sum;
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto [dq, dk, dv] = way.backward(calls[i], dout, out, lse);
      dq_sum = dq_sum.defined() ? dq_sum + dq : dq;
      found.dk.index_add_(1, keys[i], dk.to(at::kFloat));
      found.dv.index_add_(1, keys[i], dv.to(at::kFloat));
    }
    found.out.index_copy_(1, own, out.to(at::kFloat));
    found.logsumexp.index_copy_(2, own, lse);
    found.dq.index_copy_(1, own, dq_sum.to(at::kFloat));
  }
};

/// The largest distance, relative to the largest value.
double distance(const Tensor& found, const Tensor& expected) {
  const double most = expected.abs().max().item<double>();
  return (found.to(at::kDouble) - expected).abs().nan_to_num_(1e30).max().item<double>() / most;
}

}  // namespace

class AttentionPiecesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Pieces this small are not worth a second thread, which would only wait for them.
  void initTestCase() { at::set_num_threads(1); }
  void init() { at::manual_seed(7); }
  void cleanupTestCase() {
    qInfo("the largest distance in fp32 was %.1e, in bf16 %.1e", furthest_[at::kFloat],
          furthest_[at::kBFloat16]);
  }

  void ranks_together_are_the_dense_formula_data() {
    QTest::addColumn<int>("mode");
    QTest::addColumn<int>("cp");
    QTest::addColumn<int>("documents");
    QTest::addColumn<int>("type");
    QTest::addColumn<bool>("pieces");
    const std::pair<const char*, ContextMode> modes[] = {{"allgather", ContextMode::allgather},
                                                         {"ring", ContextMode::ring},
                                                         {"ulysses", ContextMode::ulysses}};
    for (const auto& [name, mode] : modes)
      for (const int cp : {2, 4, 8})
        for (const int documents : {1, 70, 500})
          for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
            for (const bool pieces : {false, true})
              QTest::addRow("%s of %d ranks, %d documents, %s, %s", name, cp, documents,
                            c10::toString(type), pieces ? "in pieces" : "the operator")
                  << int(mode) << cp << documents << int(type) << pieces;
  }
  void ranks_together_are_the_dense_formula() {
    QFETCH(int, mode);
    QFETCH(int, cp);
    QFETCH(int, documents);
    QFETCH(int, type);
    QFETCH(bool, pieces);
    const Dense dense(512, documents, at::ScalarType(type));
    const Found found = Ranks{dense, cp, ContextMode(mode), pieces ? kPieces : kOperator}.run();
    // A ring merges and sums what it has rounded to bf16 in each of its steps.
    const double limit = at::ScalarType(type) == at::kFloat ? 4e-6 : 2e-2;
    const std::tuple<const char*, Tensor, Tensor> results[] = {
        {"out", found.out, dense.out},
        {"logsumexp", found.logsumexp, dense.logsumexp},
        {"dq", found.dq, dense.dq},
        {"dk", found.dk, dense.dk},
        {"dv", found.dv, dense.dv}};
    for (const auto& [name, ours, expected] : results) {
      const double away = distance(ours, expected);
      furthest_[at::ScalarType(type)] = std::max(furthest_[at::ScalarType(type)], away);
      QVERIFY2(away < limit, qPrintable(QString("%1 is away by %2").arg(name).arg(away)));
    }
  }

  // Without ranges attention is causal.
  void a_causal_call_is_cut_too() {
    const Dense dense(300, 1, at::kFloat);
    const Call call{dense.q, dense.k, dense.v, {}, {}, {}};
    const auto [out, lse] = kPieces.forward(call);
    const auto [dq, dk, dv] = kPieces.backward(call, dense.dout, out, lse);
    for (const auto& [found, expected] : {std::pair(out, dense.out), std::pair(dq, dense.dq),
                                          std::pair(dk, dense.dk), std::pair(dv, dense.dv)})
      QVERIFY(distance(found, expected) < 4e-6);
  }

  // The CPU's kernel scores so many keys of a row part by part.
  void rows_over_many_keys_are_the_dense_formula() {
    const int64_t tokens = 70, keys = 20000;
    const Tensor q = at::randn({1, tokens, 2, 8}), k = at::randn({1, keys, 1, 8}),
                 v = at::randn({1, keys, 1, 8}), dout = at::randn({1, tokens, 2, 8});
    const Tensor last = (at::arange(tokens) * 250 + 2000).unsqueeze(0);
    const Tensor first = (last - 9000).clamp_min(0);
    const Keys seen = keys_of(first, last, {}, keys);
    const auto [out, lse] = attention_part(q, k, v, seen, kScale);
    const auto [dq, dk, dv] = attention_part_backward(dout, q, k, v, out, lse, seen, kScale);
    const auto wide = [](const Tensor& x) { return x.to(at::kDouble).transpose(1, 2); };
    const Tensor key = at::arange(keys), k_wide = wide(k), v_wide = wide(v), d = wide(dout);
    const Tensor hidden = key.lt(first.unsqueeze(2)).logical_or(key.gt(last.unsqueeze(2)));
    const Tensor p = (wide(q).matmul(k_wide.transpose(2, 3)) * kScale)
                         .masked_fill(hidden.unsqueeze(1), -std::numeric_limits<double>::infinity())
                         .softmax(-1);
    const Tensor result = p.matmul(v_wide);
    const Tensor ds = p * (d.matmul(v_wide.transpose(2, 3)) - (d * result).sum(-1, true)) * kScale;
    for (const auto& [found, expected] :
         {std::pair(out, result), std::pair(dq, ds.matmul(k_wide)),
          std::pair(dk, ds.transpose(2, 3).matmul(wide(q)).sum(1, true)),
          std::pair(dv, p.transpose(2, 3).matmul(d).sum(1, true))})
      QVERIFY(distance(found, expected.transpose(1, 2)) < 4e-6);
  }

  // Layers look up which keys are seen: no operators find it again.
  void what_is_seen_is_looked_up() {
    const Dense dense(512, 70, at::kFloat);
    const Tensor starts = at::tensor(parallel::key_starts_of(0, 4, ContextMode::allgather, 512)),
                 own = at::tensor(parallel::tokens_of(0, 4, ContextMode::allgather, 512));
    const auto of_rank = [&](const Tensor& x) { return x.index_select(1, own); };
    const Call call{of_rank(dense.q),    dense.k, dense.v, of_rank(dense.first),
                    of_rank(dense.last), starts};
    const PiecedCall pieces = call.in_pieces();
    static thread_local std::map<std::string, int> calls;
    calls.clear();
    const at::CallbackHandle counting = at::addThreadLocalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& function)
                                       -> std::unique_ptr<at::ObserverContext> {
          ++calls[function.name()];
          return nullptr;
        }).scopes({at::RecordScope::FUNCTION}));
    {
      const at::RecordFunctionGuard recorded;
      const auto [out, lse] = attention_in_pieces<Idle>(pieces);
      attention_in_pieces_backward<Idle>(pieces, call.q, out, lse);
    }
    at::removeCallback(counting);
    QVERIFY(calls["aten::copy_"] > 0);
    for (const char* name :
         {"aten::arange", "aten::clamp", "aten::clamp_", "aten::eq", "aten::gt", "aten::minimum",
          "aten::ne", "aten::scatter_", "aten::stack", "aten::sum"})
      QVERIFY2(calls[name] == 0, name);
  }

  // Queries whose own keys lie across the end of a piece would miss some.
  void queries_astray_give_nan() {
    const Dense dense(16, 1, at::kFloat);
    const Tensor starts = at::tensor({0L, 8L});
    const auto out_of = [&](const Tensor& last) {
      const Tensor first = at::zeros_like(last);
      const PiecedCall call{dense.q, dense.k, dense.v, 2, sight_of(first, last, starts, 16),
                            kScale};
      return std::get<0>(attention_in_pieces<ByCpu>(call));
    };
    QVERIFY(out_of(dense.last).isfinite().all().item<bool>());
    QVERIFY(out_of(dense.last + 3).isnan().any().item<bool>());
  }

  void blocks_cover_all_and_stay_in_their_chunk() {
    for (const auto& [total, chunk, most] :
         {std::tuple(100, 100, 100), std::tuple(100, 50, 30), std::tuple(7, 7, 100),
          std::tuple(60, 20, 30), std::tuple(1, 1, 1)}) {
      int64_t end = 0;
      for (const Block& block : blocks_of(total, chunk, most)) {
        QCOMPARE(block.begin, end);
        end += block.count;
        QVERIFY(block.count > 0 && block.count <= most);
        QCOMPARE(block.begin / chunk, (end - 1) / chunk);
      }
      QCOMPARE(end, int64_t(total));
      int64_t spanned = 0;
      for (const auto& span : spans_of(blocks_of(total, chunk, most), 40)) {
        QCOMPARE(span.front().begin, spanned);
        spanned = span.back().begin + span.back().count;
        QVERIFY(span.size() == 1 || spanned - span.front().begin <= 40);
      }
      QCOMPARE(spanned, int64_t(total));
    }
  }

  void a_call_is_cut_where_queries_lie_as_their_keys_do() {
    QVERIFY(can_be_cut(512, 512, 0));
    QVERIFY(!can_be_cut(300, 512, 0));
    QVERIFY(can_be_cut(128, 512, 8));
    QVERIFY(!can_be_cut(100, 512, 8));
  }

 private:
  std::map<at::ScalarType, double> furthest_;
};

HEDDLE_TEST(AttentionPiecesTest)
#include "attention_pieces_test.moc"
