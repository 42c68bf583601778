// Every operator of Heddle against the same thing put together from LibTorch's operators: values
// and gradients, on shapes that are odd on purpose.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/autograd.h>

#include <QTest>

#include "engine/kernels/composite.h"
#include "engine/kernels/operators.h"

namespace {

using at::Tensor;
namespace kernels = heddle::kernels;

Tensor leaf(at::IntArrayRef sizes) { return at::randn(sizes).set_requires_grad(true); }

bool close(const Tensor& a, const Tensor& b) { return at::allclose(a, b, 1e-4, 1e-5); }

// The same values and, against a random direction, the same gradients.
void compare(const Tensor& ours, const Tensor& theirs, const std::vector<Tensor>& leaves) {
  QVERIFY(ours.sizes() == theirs.sizes());
  QVERIFY(close(ours, theirs));
  const Tensor direction = at::randn_like(theirs);
  const auto a = torch::autograd::grad({ours}, leaves, {direction});
  const auto b = torch::autograd::grad({theirs}, leaves, {direction});
  for (size_t i = 0; i < leaves.size(); ++i)
    QVERIFY2(close(a[i], b[i]), qPrintable(QString("gradient %1").arg(i)));
}

}  // namespace

class KernelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { at::manual_seed(1); }

  void rms_norm() {
    const Tensor x = leaf({131, 37}), weight = leaf({37});
    const Tensor expected = x * (x.pow(2).mean(-1, true) + 1e-5).rsqrt() * weight;
    compare(kernels::rms_norm(x, weight, 1e-5), expected, {x, weight});
  }

  void swiglu() {
    const Tensor gate = leaf({33, 19}), up = leaf({33, 19});
    compare(kernels::swiglu(gate, up), at::silu(gate) * up, {gate, up});
  }

  void swiglu_at_the_ends_of_exp() {
    const Tensor gate = at::tensor({-1000.0F, -90.0F, -80.0F, 0.0F, 80.0F, 90.0F, 1000.0F}),
                 up = at::ones({7});
    QVERIFY(close(kernels::swiglu(gate, up), at::silu(gate)));
  }

  void cross_entropy() {
    const Tensor logits = at::mul(at::randn({29, 101}), 5).set_requires_grad(true);
    Tensor labels = at::randint(0, 101, {29}, at::kLong);
    labels[3] = -100;  // not counted
    compare(kernels::cross_entropy(logits, labels),
            at::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum, -100), {logits});
  }

  void attention_data() {
    QTest::addColumn<int>("kv_heads");
    QTest::addColumn<int>("tokens");
    QTest::newRow("every head its own") << 6 << 17;
    QTest::newRow("grouped") << 2 << 40;
    QTest::newRow("one kv head, one token") << 1 << 1;
  }
  void attention() {
    QFETCH(int, kv_heads);
    QFETCH(int, tokens);
    const Tensor q = leaf({2, tokens, 6, 8}), k = leaf({2, tokens, kv_heads, 8}),
                 v = leaf({2, tokens, kv_heads, 8});
    const Tensor mask = at::full({tokens, tokens}, -INFINITY).triu(1);
    const Tensor qh = q.transpose(1, 2), kh = k.repeat_interleave(6 / kv_heads, 2).transpose(1, 2),
                 vh = v.repeat_interleave(6 / kv_heads, 2).transpose(1, 2);
    const Tensor expected =
        at::softmax(qh.matmul(kh.transpose(2, 3)) * 0.3 + mask, -1).matmul(vh).transpose(1, 2);
    compare(kernels::attention(q, k, v, 0.3), expected, {q, k, v});
  }

  void rope() {
    const Tensor x = leaf({2, 5, 3, 8});
    const Tensor angles = at::randn({9, 4});
    const Tensor table = at::stack({angles.cos(), angles.sin()}, -1);
    const Tensor positions = at::randint(0, 9, {2, 5}, at::kLong);
    const Tensor c = table.index({positions}).select(-1, 0).unsqueeze(2),
                 s = table.index({positions}).select(-1, 1).unsqueeze(2);
    const Tensor pairs = x.view({2, 5, 3, 4, 2}), even = pairs.select(-1, 0),
                 odd = pairs.select(-1, 1);
    const Tensor expected = at::stack({even * c - odd * s, even * s + odd * c}, -1).view_as(x);
    compare(kernels::rope(x, table, positions), expected, {x});
  }

  void rope_refuses_a_position_outside_its_table() {
    const Tensor table = at::ones({4, 2, 2}), positions = at::full({1, 1}, 4, at::kLong);
    QVERIFY_EXCEPTION_THROWN(kernels::rope(at::ones({1, 1, 1, 4}), table, positions), c10::Error);
  }

  // What other devices run until they have kernels of their own.
  void composite_kernels_equal_ours() {
    namespace composite = kernels::composite;
    auto run = [](const char* name, auto... arguments) {
      torch::jit::Stack stack{c10::IValue(arguments)...};
      c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(&stack);
      return stack;
    };
    auto same = [](const torch::jit::Stack& ours, const std::vector<Tensor>& theirs) {
      for (size_t i = 0; i < theirs.size(); ++i)
        QVERIFY2(close(ours[i].toTensor(), theirs[i]), qPrintable(QString("result %1").arg(i)));
    };
    auto list = [](const auto& tuple) {
      return std::apply([](const auto&... each) { return std::vector<Tensor>{each...}; }, tuple);
    };
    const Tensor x = at::randn({7, 12}), dy = at::randn({7, 12}), w = at::randn({12});
    same(run("heddle::rms_norm", x, w, 1e-5), list(composite::rms_norm(x, w, 1e-5)));
    const Tensor rstd = std::get<1>(composite::rms_norm(x, w, 1e-5));
    same(run("heddle::rms_norm_backward", dy, x, w, rstd),
         list(composite::rms_norm_backward(dy, x, w, rstd)));
    same(run("heddle::swiglu", x, dy), {composite::swiglu(x, dy)});
    same(run("heddle::swiglu_backward", dy, x, dy), list(composite::swiglu_backward(dy, x, dy)));

    const Tensor labels = at::tensor({0L, 11L, -100L, 3L, 4L, 5L, 6L});
    same(run("heddle::cross_entropy", x, labels), list(composite::cross_entropy(x, labels)));
    const Tensor lse = x.logsumexp(-1), one = at::ones({});
    same(run("heddle::cross_entropy_backward", one, x, labels, lse),
         {composite::cross_entropy_backward(one, x, labels, lse)});

    const Tensor q = at::randn({2, 9, 6, 8}), k = at::randn({2, 9, 2, 8}),
                 v = at::randn({2, 9, 2, 8}), dout = at::randn({2, 9, 6, 8});
    const auto [out, logsumexp] = composite::attention(q, k, v, 0.3);
    same(run("heddle::attention", q, k, v, 0.3), {out, logsumexp});
    same(run("heddle::attention_backward", dout, q, k, v, out, logsumexp, 0.3),
         list(composite::attention_backward(dout, q, k, v, out, logsumexp, 0.3)));
    const Tensor table = at::randn({20, 4, 2}), positions = at::randint(0, 20, {2, 9}, at::kLong);
    for (bool inverse : {false, true})
      same(run("heddle::rope", q, table, positions, inverse),
           {composite::rope(q, table, positions, inverse)});

    const Tensor lr = at::scalar_tensor(0.01, at::kDouble), step = at::scalar_tensor(3, at::kLong);
    for (float factor : {0.5F, 0.0F}) {
      std::vector<Tensor> a{x.clone(), dy.clone(), dy.square()},
          b{x.clone(), dy.clone(), dy.square()};
      const Tensor f = at::scalar_tensor(factor, at::kFloat),
                   grad = factor == 0 ? at::full({7, 12}, NAN) : at::randn({7, 12});
      kernels::adamw_({a[0]}, {a[1]}, {a[2]}, {grad}, lr, step, f, {});
      composite::adamw_(b[0], b[1], b[2], grad, lr, step, f, 0.9, 0.95, 1e-8, 0.1);
      for (int i = 0; i < 3; ++i) QVERIFY(close(a[i], b[i]));
    }
    for (double norm : {4.0, 0.5, double(INFINITY)})
      for (double limit : {0.0, 1.0})
        same(run("heddle::clip_factor", at::scalar_tensor(norm, at::kDouble), limit),
             {composite::clip_factor(at::scalar_tensor(norm, at::kDouble), limit)});
  }

  void adamw_is_the_formula() {
    const Tensor p = at::randn({77}), grad = at::randn({77});
    Tensor ours = p.clone(), m = at::zeros({77}), v = at::zeros({77});
    Tensor p64 = p.to(at::kDouble), m64 = at::zeros({77}, at::kDouble), v64 = m64.clone();
    const kernels::AdamW settings{0.9, 0.95, 1e-8, 0.1};
    const double lr = 1e-2, factor = 0.5;
    for (int64_t t = 1; t <= 5; ++t) {
      kernels::adamw_({ours}, {m}, {v}, {grad}, at::scalar_tensor(lr, at::kDouble),
                      at::scalar_tensor(t, at::kLong), at::scalar_tensor(factor, at::kFloat),
                      settings);
      const Tensor g = grad.to(at::kDouble) * factor;
      m64 = 0.9 * m64 + 0.1 * g;
      v64 = 0.95 * v64 + 0.05 * g * g;
      const Tensor m_hat = m64 / (1 - std::pow(0.9, t)), v_hat = v64 / (1 - std::pow(0.95, t));
      p64 = p64 * (1 - lr * 0.1) - lr * m_hat / (v_hat.sqrt() + 1e-8);
    }
    QVERIFY(close(ours, p64.to(at::kFloat)));
  }

  void a_gradient_that_is_not_finite_changes_nothing() {
    const Tensor grad = at::full({5}, NAN), before = at::ones({5});
    const Tensor factor =
        kernels::clip_factor(kernels::total_norm(kernels::squared_norms({grad})).sqrt(), 1.0);
    Tensor p = before.clone(), m = at::zeros({5}), v = at::zeros({5});
    kernels::adamw_({p}, {m}, {v}, {grad}, at::scalar_tensor(1.0, at::kDouble),
                    at::scalar_tensor(1, at::kLong), factor, {});
    QVERIFY(at::equal(p, before));
    QVERIFY(at::equal(m, at::zeros({5})));
  }

  void lists_may_be_cut_anywhere() {
    const Tensor lr = at::scalar_tensor(0.01, at::kDouble), step = at::scalar_tensor(3, at::kLong),
                 factor = at::scalar_tensor(0.7F, at::kFloat);
    using List = std::vector<Tensor>;
    List grads, together[3], apart[3];
    for (int64_t size : {70001, 3, 512}) {
      grads.push_back(at::randn({size}));
      for (auto& state : together) state.push_back(at::rand({size}));
    }
    for (int i = 0; i < 3; ++i)
      for (const Tensor& each : together[i]) apart[i].push_back(each.clone());
    kernels::adamw_(together[0], together[1], together[2], grads, lr, step, factor, {});
    for (size_t i : {2, 0, 1})
      kernels::adamw_({apart[0][i]}, {apart[1][i]}, {apart[2][i]}, {grads[i]}, lr, step, factor,
                      {});
    const List norms = kernels::squared_norms(grads);
    for (size_t i = 0; i < 3; ++i) {
      for (int state = 0; state < 3; ++state)
        QVERIFY(at::equal(together[state][i], apart[state][i]));
      QVERIFY(at::equal(norms[i], kernels::squared_norms({grads[i]}).front()));
    }
  }

  void lists_of_different_lengths_are_refused() {
    const Tensor x = at::ones({3}), scalar = at::scalar_tensor(1.0, at::kDouble);
    QVERIFY_EXCEPTION_THROWN(kernels::adamw_({x}, {x}, {x}, {x, x}, scalar, scalar, scalar, {}),
                             c10::Error);
  }

  void norm_and_clipping() {
    const Tensor a = at::randn({70000}), b = at::randn({3});
    const Tensor norm = kernels::total_norm(kernels::squared_norms({a, b})).sqrt();
    QVERIFY(std::abs(norm.item<double>() - at::cat({a, b}).to(at::kDouble).norm().item<double>()) <
            1e-6);
    QCOMPARE(kernels::clip_factor(at::scalar_tensor(4.0, at::kDouble), 1.0).item<float>(), 0.25F);
    QCOMPARE(kernels::clip_factor(at::scalar_tensor(0.5, at::kDouble), 1.0).item<float>(), 1.0F);
    QCOMPARE(kernels::clip_factor(at::scalar_tensor(9.0, at::kDouble), 0.0).item<float>(), 1.0F);
  }
};

QTEST_GUILESS_MAIN(KernelsTest)
#include "kernels_test.moc"
