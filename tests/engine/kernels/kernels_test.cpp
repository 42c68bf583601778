// Every operator of Heddle against the same thing put together from LibTorch's operators: values
// and gradients, on shapes that are odd on purpose.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/autograd.h>

#include <QDir>
#include <QTest>
#include <functional>

#include "engine/kernels/composite.h"
#include "engine/kernels/joined.h"
#include "engine/kernels/sight_numbers.h"
#include "engine/kernels/update.h"
#include "tests/support/test_class.h"

namespace {

using at::Tensor;
namespace kernels = heddle::kernels;

bool close(const Tensor& a, const Tensor& b, double relative = 1e-4, double absolute = 1e-5) {
  return a.sizes() == b.sizes() &&
         at::allclose(a.to(at::kDouble), b.to(at::kDouble), relative, absolute);
}

using Operator = std::function<Tensor(const std::vector<Tensor>&)>;

// Our operator in fp32 or bf16 against LibTorch's in fp64, from the same rounded leaves: values
// and, along a random direction, gradients; the same bits with 1 thread and with 2. A bf16 result
// is off by 2⁻⁹ of itself where it is rounded once; `bf16_tolerance` also covers what it was summed
// from.
void compare(const Operator& ours, const Operator& reference, std::vector<Tensor> leaves,
             at::ScalarType type, double bf16_tolerance = 0.008) {
  const double tolerance = type == at::kBFloat16 ? bf16_tolerance : 1e-4;
  std::vector<Tensor> exact;
  for (Tensor& leaf : leaves) {
    leaf = leaf.detach().to(type).set_requires_grad(true);
    exact.push_back(leaf.detach().to(at::kDouble).set_requires_grad(true));
  }
  const Tensor expected = reference(exact);
  const Tensor direction = at::randn(expected.sizes()).to(type);
  const auto expected_grads = torch::autograd::grad({expected}, exact, {direction.to(at::kDouble)});
  std::vector<Tensor> first;
  for (int threads : {1, 2}) {
    at::set_num_threads(threads);
    const Tensor result = ours(leaves);
    std::vector<Tensor> all =
        torch::autograd::grad({result}, leaves, {direction.to(result.scalar_type())});
    for (size_t i = 0; i < leaves.size(); ++i) {
      QCOMPARE(all[i].scalar_type(), type);
      QVERIFY2(close(all[i], expected_grads[i], tolerance, tolerance),
               qPrintable(QString("gradient %1, %2 threads").arg(i).arg(threads)));
    }
    QVERIFY(close(result, expected, tolerance, tolerance));
    all.push_back(result);
    if (threads == 1) first = all;
    for (size_t i = 0; i < all.size(); ++i)
      QVERIFY2(at::equal(all[i], first[i]), "1 thread and 2 give different bits");
  }
}

// The results of an operator.
template <typename... Arguments>
torch::jit::Stack run(const char* name, Arguments... arguments) {
  torch::jit::Stack stack{c10::IValue(arguments)...};
  c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(&stack);
  return stack;
}

void adamw_(const std::vector<kernels::Tensors>& written, const kernels::Tensors& grads,
            const Tensor& lr, const Tensor& step, const Tensor& factor) {
  kernels::update_("heddle::adamw_", written, grads, lr, step, factor, {0.9, 0.95, 1e-8, 0.1});
}

void add_types() {
  QTest::addColumn<int>("type");
  QTest::newRow("fp32") << int(at::kFloat);
  QTest::newRow("bf16") << int(at::kBFloat16);
}

at::ScalarType type_of_row() {
  return static_cast<at::ScalarType>(*static_cast<int*>(QTest::qData("type", QMetaType::Int)));
}

}  // namespace

class KernelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { at::manual_seed(1); }

  void rms_norm_data() { add_types(); }
  void rms_norm() {
    compare([](auto& in) { return kernels::rms_norm(in[0], in[1], 1e-5); },
            [](auto& in) { return in[0] * (in[0].pow(2).mean(-1, true) + 1e-5).rsqrt() * in[1]; },
            {at::randn({1031, 37}), at::randn({37})}, type_of_row());
  }

  // With a sum before it or after backward, a weight of either type, and a summand that is given
  // once for all rows, which no single loop takes.
  void rms_norm_and_a_sum_in_one_are_the_two_bit_for_bit_data() { add_types(); }
  void rms_norm_and_a_sum_in_one_are_the_two_bit_for_bit() {
    const Tensor x = at::randn({1031, 37}).to(type_of_row()), dy = at::randn_like(x);
    for (const Tensor& other : {at::randn_like(x), at::randn({1, 37}).to(x.scalar_type())})
      for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        const Tensor weight = at::randn({37}).to(type);
        const torch::jit::Stack one = run("heddle::add_rms_norm", x, other, weight, 1e-5);
        const Tensor sum = x + other;
        const torch::jit::Stack two = run("heddle::rms_norm", sum, weight, 1e-5);
        const auto same = [](const c10::IValue& a, const Tensor& b) {
          return at::equal(a.toTensor(), b);
        };
        const Tensor rstd = two[1].toTensor();
        QVERIFY(same(one[0], two[0].toTensor()) && same(one[1], rstd) && same(one[2], sum));

        const torch::jit::Stack back =
            run("heddle::rms_norm_backward_add", dy, x, weight, rstd, other);
        const torch::jit::Stack norm = run("heddle::rms_norm_backward", dy, x, weight, rstd);
        QVERIFY(same(back[0], other + norm[0].toTensor()) && same(back[1], norm[1].toTensor()));
      }
  }

  void swiglu_data() { add_types(); }
  void swiglu() {
    compare([](auto& in) { return kernels::swiglu(in[0], in[1]); },
            [](auto& in) { return at::silu(in[0]) * in[1]; },
            {at::randn({331, 119}), at::randn({331, 119})}, type_of_row());
  }

  void joined_swiglu_data() { add_types(); }
  void joined_swiglu() {
    const at::ScalarType type = type_of_row();
    compare([](auto& in) { return kernels::joined_swiglu(in[0]); },
            [](auto& in) { return at::silu(in[0].narrow(1, 0, 119)) * in[0].narrow(1, 119, 119); },
            {at::randn({331, 238})}, type);
    // The halves of a row give the bits that they give apart.
    const Tensor rows = at::randn({331, 238}).to(type), dy = at::randn({331, 119}).to(type),
                 gate = rows.narrow(1, 0, 119), up = rows.narrow(1, 119, 119);
    QVERIFY(at::equal(kernels::joined_swiglu(rows), kernels::swiglu(gate, up)));
    const torch::jit::Stack apart = run("heddle::swiglu_backward", dy, gate, up);
    QVERIFY(at::equal(run("heddle::joined_swiglu_backward", dy, rows)[0].toTensor(),
                      at::cat({apart[0].toTensor(), apart[1].toTensor()}, 1)));
    QVERIFY_EXCEPTION_THROWN(kernels::joined_swiglu(at::ones({2, 5})), c10::Error);
  }

  // A row's heads give the bits that they give apart, and values go through.
  void joined_rope_data() { add_types(); }
  void joined_rope() {
    constexpr int64_t kTokens = 37, kHeads = 6, kKvHeads = 2, kD = 8;
    const Tensor angles = at::randn({50, kD / 2}, at::kFloat),
                 table = at::stack({angles.cos(), angles.sin()}, -1),
                 positions = at::randint(0, 50, {1, kTokens}, at::kLong);
    const auto parts = [&](const Tensor& row) {
      std::vector<Tensor> all;
      for (const Tensor& each :
           row.split_with_sizes({kHeads * kD, kKvHeads * kD, kKvHeads * kD}, 1))
        all.push_back(each.reshape({kTokens, -1, kD}));
      return all;
    };
    const auto turned = [&](const Tensor& heads) {
      return kernels::rope(heads.unsqueeze(0), table, positions).squeeze(0);
    };
    const auto sides = [](const Tensor& q, const Tensor& k, const Tensor& v) {
      return at::cat({q, k, v}, 1);
    };
    Tensor row = at::randn({kTokens, (kHeads + 2 * kKvHeads) * kD}).to(type_of_row());
    row.set_requires_grad(true);
    const auto [q, k, v] = kernels::joined_rope(row, table, positions, kHeads);
    const std::vector<Tensor> apart = parts(row);
    const Tensor ours = sides(q, k, v),
                 theirs = sides(turned(apart[0]), turned(apart[1]), apart[2]);
    QVERIFY(at::equal(ours, theirs));
    const Tensor direction = at::randn(ours.sizes()).to(ours.scalar_type());
    QVERIFY(at::equal(torch::autograd::grad({ours}, {row}, {direction})[0],
                      torch::autograd::grad({theirs}, {row}, {direction})[0]));
    at::set_num_threads(1);
    QVERIFY(at::equal(std::get<0>(kernels::joined_rope(row, table, positions, kHeads)), q));
    at::set_num_threads(2);
    QVERIFY_EXCEPTION_THROWN(kernels::joined_rope(row, table, positions, kHeads + 1), c10::Error);
    QVERIFY_EXCEPTION_THROWN(kernels::joined_rope(row, table, positions + 50, kHeads), c10::Error);
    QVERIFY_EXCEPTION_THROWN(kernels::joined_rope(row, table, positions.narrow(1, 0, 3), kHeads),
                             c10::Error);
  }

  void join() {
    compare([](auto& in) { return kernels::join(in); }, [](auto& in) { return at::cat(in); },
            {at::randn({3, 4}), at::randn({2, 4})}, at::kFloat);
  }

  void swiglu_at_the_ends_of_exp() {
    const Tensor gate = at::tensor({-1000.0F, -90.0F, -80.0F, 0.0F, 80.0F, 90.0F, 1000.0F}),
                 up = at::ones({7});
    QVERIFY(close(kernels::swiglu(gate, up), at::silu(gate)));
  }

  void cross_entropy_data() { add_types(); }
  void cross_entropy() {
    Tensor labels = at::randint(0, 1001, {59}, at::kLong);
    labels[3] = -100;  // not counted
    compare([=](auto& in) { return kernels::cross_entropy(in[0], labels); },
            [=](auto& in) {
              return at::cross_entropy_loss(in[0], labels, {}, at::Reduction::Sum, -100);
            },
            {at::mul(at::randn({59, 1001}), 5)}, type_of_row());
  }

  void attention_data() {
    QTest::addColumn<int>("kv_heads");
    QTest::addColumn<int>("tokens");
    QTest::addColumn<int>("type");
    for (at::ScalarType type : {at::kFloat, at::kBFloat16}) {
      auto row = [&](const char* name) -> QTestData& {
        return QTest::addRow("%s, %s", name, c10::toString(type));
      };
      row("every head its own") << 6 << 17 << int(type);
      row("grouped, more than a block of rows") << 2 << 150 << int(type);
      row("one kv head, one token") << 1 << 1 << int(type);
      row("one kv head, one block") << 1 << 64 << int(type);
    }
  }
  void attention() {
    QFETCH(int, kv_heads);
    QFETCH(int, tokens);
    QFETCH(int, type);
    auto reference = [=](auto& in) {
      const Tensor mask = at::full({tokens, tokens}, -INFINITY).triu(1);
      const Tensor q = in[0].transpose(1, 2),
                   k = in[1].repeat_interleave(6 / kv_heads, 2).transpose(1, 2),
                   v = in[2].repeat_interleave(6 / kv_heads, 2).transpose(1, 2);
      return at::softmax(q.matmul(k.transpose(2, 3)) * 0.3 + mask, -1).matmul(v).transpose(1, 2);
    };
    compare([](auto& in) { return kernels::attention(in[0], in[1], in[2], 0.3); }, reference,
            {at::randn({2, tokens, 6, 8}), at::randn({2, tokens, kv_heads, 8}),
             at::randn({2, tokens, kv_heads, 8})},
            at::ScalarType(type), 0.016);  // backward reads the rounded output of forward
  }

  void rope_data() { add_types(); }
  void rope() {
    const Tensor angles = at::randn({9, 19});
    const Tensor table = at::stack({angles.cos(), angles.sin()}, -1);
    const Tensor positions = at::randint(0, 9, {2, 205}, at::kLong);
    auto reference = [=](auto& in) {
      const Tensor c = table.index({positions}).select(-1, 0).unsqueeze(2),
                   s = table.index({positions}).select(-1, 1).unsqueeze(2);
      const Tensor pairs = in[0].view({2, 205, 3, 19, 2}), even = pairs.select(-1, 0),
                   odd = pairs.select(-1, 1);
      return at::stack({even * c - odd * s, even * s + odd * c}, -1).view_as(in[0]);
    };
    compare([=](auto& in) { return kernels::rope(in[0], table, positions); }, reference,
            {at::randn({2, 205, 3, 38})}, type_of_row());
  }

  void what_does_not_fit_is_refused() {
    const Tensor x = at::ones({2, 4}), bf16 = x.to(at::kBFloat16);
    QVERIFY_EXCEPTION_THROWN(kernels::rms_norm(x, at::ones({5}), 1e-5), c10::Error);
    QVERIFY_EXCEPTION_THROWN(kernels::swiglu(x, bf16), c10::Error);
    QVERIFY_EXCEPTION_THROWN(kernels::swiglu(x, at::ones({2, 5})), c10::Error);
    QVERIFY_EXCEPTION_THROWN(kernels::swiglu(x.to(at::kHalf), x.to(at::kHalf)), c10::Error);
    QVERIFY_EXCEPTION_THROWN(kernels::accumulate_(bf16, x), c10::Error);
    const Tensor q = at::ones({1, 2, 4, 2}), k = at::ones({1, 2, 3, 2});
    QVERIFY_EXCEPTION_THROWN(kernels::attention(q, k, k, 1.0), c10::Error);
    const Tensor q16 = q.to(at::kBFloat16);
    QVERIFY_EXCEPTION_THROWN(kernels::attention(q16, q, q, 1.0), c10::Error);
  }

  void a_label_outside_the_vocabulary_is_named() {
    try {
      kernels::cross_entropy(at::ones({2, 4}), at::tensor({1L, 4L}));
      QFAIL("label 4 of 4 was taken");
    } catch (const c10::Error& error) {
      QVERIFY2(QString(error.what()).contains("label 4 is outside the vocabulary of 4"),
               error.what());
    }
  }

  void sums_in_fp32_take_bf16() {
    const Tensor value = at::randn({70001}).to(at::kBFloat16), start = at::randn({70001});
    Tensor sum = start.clone();
    kernels::accumulate_(sum, value);
    QVERIFY(at::equal(sum, start + value.to(at::kFloat)));
    const double norm = kernels::squared_norms({value}).front().item<double>();
    const double expected = value.to(at::kDouble).square().sum().item<double>();
    QVERIFY(std::abs(norm - expected) < 1e-9 * expected);
  }

  void casts_in_a_list_are_those_one_by_one() {
    const std::vector<Tensor> values{at::randn({70001}), at::randn({3, 5}), at::randn({})};
    std::vector<Tensor> there;
    for (const auto& each : run("heddle::cast_list", values, int64_t{15})[0].toTensorVector())
      there.push_back(each);
    const auto back = run("heddle::cast_list", there, int64_t{6})[0].toTensorVector();
    for (size_t i = 0; i < values.size(); ++i) {
      QVERIFY(at::equal(there[i], values[i].to(at::kBFloat16)));
      QVERIFY(at::equal(back[i], there[i].to(at::kFloat)));
    }
    QVERIFY_EXCEPTION_THROWN(run("heddle::cast_list", values, int64_t{6}), c10::Error);
  }

  // On a CPU they are what two operators give.
  void products_in_another_type_and_added_to_a_sum() {
    for (const at::ScalarType type : {at::kBFloat16, at::kFloat}) {
      const Tensor a = at::randn({37, 65}).to(type).t(), b = at::randn({37, 19}).to(type),
                   start = at::randn({65, 19});
      QVERIFY(
          at::equal(run("heddle::mm_to", a, b, int64_t{6})[0].toTensor(), a.mm(b).to(at::kFloat)));
      Tensor sum = start.clone();
      run("heddle::add_mm_", a, b, sum);
      QVERIFY(at::equal(sum, start + a.mm(b).to(at::kFloat)));
      QVERIFY_EXCEPTION_THROWN(run("heddle::mm_to", a, b.t(), int64_t{6}), c10::Error);
    }
  }

  void rope_refuses_a_position_outside_its_table() {
    const Tensor table = at::ones({4, 2, 2}), positions = at::full({1, 1}, 4, at::kLong);
    QVERIFY_EXCEPTION_THROWN(kernels::rope(at::ones({1, 1, 1, 4}), table, positions), c10::Error);
  }

  // Some of the keys on each of three ranks are all of them.
  void parts_of_attention_are_the_whole() {
    const Tensor q = at::randn({2, 12, 4, 8}), k = at::randn({2, 12, 2, 8}),
                 v = at::randn({2, 12, 2, 8}), dout = at::randn({2, 12, 4, 8});
    const Tensor index = at::arange(12).expand({2, 12}).contiguous(),
                 first = index.div(5, "floor") * 5;
    const kernels::Keys all = kernels::keys_of(first, index, {}, 12);
    const auto [whole, lse] = kernels::attention_part(q, k, v, all, 0.3);
    const auto [dq, dk, dv] = kernels::attention_part_backward(dout, q, k, v, whole, lse, all, 0.3);
    Tensor out, sum, dq_sum = at::zeros_like(q);
    for (int64_t begin = 0; begin < 12; begin += 4) {
      const kernels::Keys keys = kernels::keys_of(first, index, at::tensor({begin}), 4);
      const Tensor some = k.narrow(1, begin, 4), values = v.narrow(1, begin, 4);
      auto [part, part_lse] = kernels::attention_part(q, some, values, keys, 0.3);
      if (begin == 0) {
        out = part;
        sum = part_lse;
      } else {
        std::tie(out, sum) = kernels::merge_attention(out, sum, part, part_lse);
      }
      const auto [dq_part, dk_part, dv_part] =
          kernels::attention_part_backward(dout, q, some, values, whole, lse, keys, 0.3);
      dq_sum += dq_part;
      QVERIFY(close(dk_part, dk.narrow(1, begin, 4)) && close(dv_part, dv.narrow(1, begin, 4)));
    }
    QVERIFY(close(out, whole) && close(sum, lse) && close(dq_sum, dq));
  }

  // 11 columns over three ranks of four: the last one is no token's.
  void a_vocabulary_over_ranks_gives_the_same_loss() {
    const Tensor logits = at::randn({7, 11}), labels = at::tensor({0L, 10L, -100L, 3L, 4L, 8L, 7L}),
                 one = at::full({}, 0.5F);
    const auto run = [](const Tensor& x, const Tensor& y) {
      return kernels::composite::cross_entropy(x, y);
    };
    const auto [loss, lse] = run(logits, labels);
    const Tensor grad = kernels::composite::cross_entropy_backward(one, logits, labels, lse);
    std::vector<Tensor> numbers, grads;
    const auto part = [&](int64_t rank) {
      return at::constant_pad_nd(logits, {0, 1}, 99.0).narrow(1, rank * 4, 4).contiguous();
    };
    const auto begin = [](int64_t rank) { return at::scalar_tensor(rank * 4, at::kLong); };
    for (int64_t rank = 0; rank < 3; ++rank)
      numbers.push_back(kernels::vocabulary_statistics(part(rank), labels, begin(rank), 11));
    const auto [joined, joined_lse] = kernels::joined_cross_entropy(at::cat(numbers), labels);
    for (int64_t rank = 0; rank < 3; ++rank)
      grads.push_back(kernels::vocabulary_cross_entropy_backward(one, part(rank), labels,
                                                                 begin(rank), joined_lse, 11));
    QVERIFY(close(joined, loss) && close(joined_lse, lse));
    QVERIFY(close(at::cat(grads, 1).narrow(1, 0, 11), grad));
    QVERIFY(at::cat(grads, 1).select(1, 11).eq(0).all().item<bool>());
    QVERIFY_EXCEPTION_THROWN(
        kernels::vocabulary_statistics(part(0), at::full({7}, 11, at::kLong), begin(0), 11),
        c10::Error);
  }

  // Other devices run these until they have kernels of their own.
  void composite_kernels_equal_ours_data() { add_types(); }
  void composite_kernels_equal_ours() {
    const at::ScalarType type = type_of_row();
    const double tolerance = type == at::kBFloat16 ? 0.008 : 1e-4;  // both round once
    auto randn = [&](at::IntArrayRef sizes) { return at::randn(sizes).to(type); };
    namespace composite = kernels::composite;
    auto same = [&](const torch::jit::Stack& ours, const std::vector<Tensor>& theirs) {
      for (size_t i = 0; i < theirs.size(); ++i) {
        QCOMPARE(ours[i].toTensor().scalar_type(), theirs[i].scalar_type());
        QVERIFY2(close(ours[i].toTensor(), theirs[i], tolerance, tolerance),
                 qPrintable(QString("result %1").arg(i)));
      }
    };
    auto list = [](const auto& tuple) {
      return std::apply([](const auto&... each) { return std::vector<Tensor>{each...}; }, tuple);
    };
    const Tensor x = randn({7, 12}), dy = randn({7, 12}), w = randn({12});
    same(run("heddle::rms_norm", x, w, 1e-5), list(composite::rms_norm(x, w, 1e-5)));
    const Tensor rstd = std::get<1>(composite::rms_norm(x, w, 1e-5));
    same(run("heddle::rms_norm_backward", dy, x, w, rstd),
         list(composite::rms_norm_backward(dy, x, w, rstd)));
    same(run("heddle::swiglu", x, dy), {composite::swiglu(x, dy)});
    same(run("heddle::swiglu_backward", dy, x, dy), list(composite::swiglu_backward(dy, x, dy)));

    const Tensor labels = at::tensor({0L, 11L, -100L, 3L, 4L, 5L, 6L});
    same(run("heddle::cross_entropy", x, labels), list(composite::cross_entropy(x, labels)));
    const Tensor lse = x.to(at::kFloat).logsumexp(-1), one = at::ones({});
    same(run("heddle::cross_entropy_backward", one, x, labels, lse),
         {composite::cross_entropy_backward(one, x, labels, lse)});

    const Tensor q = randn({2, 9, 6, 8}), k = randn({2, 9, 2, 8}), v = randn({2, 9, 2, 8}),
                 dout = randn({2, 9, 6, 8});
    // Causal; and documents, seen by queries of which some see nothing of these keys, whose pieces
    // lie out of order.
    const Tensor many = randn({2, 12, 2, 8}), other = randn({2, 12, 2, 8});
    const Tensor last = at::arange(4, 13).expand({2, 9}).contiguous(),
                 first = (last - at::tensor({4L, 0L, 2L, 3L, 9L, 1L, 0L, 5L, 20L})).clamp_min(0);
    const Tensor starts = at::tensor({8L, 0L, 16L});
    for (const bool pieces : {false, true}) {
      const std::optional<Tensor> none, f = pieces ? std::optional(first) : none,
                                        l = pieces ? std::optional(last) : none,
                                        s = pieces ? std::optional(starts) : none;
      const kernels::Keys seen = kernels::keys_of(first, last, starts, 12);
      const kernels::Optional& sight = pieces ? seen.sight : none;
      const Tensor &keys = pieces ? many : k, &values = pieces ? other : v;
      const auto [out, logsumexp] = composite::attention(q, keys, values, f, l, s, 0.3);
      same(run("heddle::attention", q, keys, values, f, l, s, sight, 0.3), {out, logsumexp});
      same(
          run("heddle::attention_backward", dout, q, keys, values, out, logsumexp, f, l, s, sight,
              0.3),
          list(composite::attention_backward(dout, q, keys, values, out, logsumexp, f, l, s, 0.3)));
      const auto [part, lse] = composite::attention(q, many, other, first, last, starts, 0.3);
      same(run("heddle::merge_attention", out, logsumexp, part, lse),
           list(composite::merge_attention(out, logsumexp, part, lse)));
    }
    const Tensor table = at::randn({20, 4, 2}), positions = at::randint(0, 20, {2, 9}, at::kLong);
    for (bool inverse : {false, true})
      same(run("heddle::rope", q, table, positions, inverse),
           {composite::rope(q, table, positions, inverse)});
  }

  void composite_norms_equal_ours() {
    namespace composite = kernels::composite;
    const Tensor x = at::randn({7, 12}), dy = at::randn({7, 12});
    for (double norm : {4.0, 0.5, double(INFINITY)})
      for (double limit : {0.0, 1.0})
        QVERIFY(close(kernels::clip_factor(at::scalar_tensor(norm, at::kDouble), limit),
                      composite::clip_factor(at::scalar_tensor(norm, at::kDouble), limit)));
    const std::vector<Tensor> ours = kernels::squared_norms({x, dy}),
                              theirs = composite::squared_norms({x, dy});
    for (size_t i = 0; i < 2; ++i) QVERIFY(close(ours[i], theirs[i]));
    QVERIFY(close(kernels::total_norm(ours), composite::total_norm(theirs)));
  }

  void adamw_is_the_formula() {
    const int64_t size = 70001;  // shared by several threads
    const Tensor p = at::randn({size}), grad = at::randn({size});
    Tensor ours = p.clone(), m = at::zeros({size}), v = at::zeros({size});
    Tensor p64 = p.to(at::kDouble), m64 = at::zeros({size}, at::kDouble), v64 = m64.clone();
    const double lr = 1e-2, factor = 0.5;
    for (int64_t t = 1; t <= 5; ++t) {
      adamw_({{ours}, {m}, {v}}, {grad}, at::scalar_tensor(lr, at::kDouble),
             at::scalar_tensor(t, at::kLong), at::scalar_tensor(factor, at::kFloat));
      const Tensor g = grad.to(at::kDouble) * factor;
      m64 = 0.9 * m64 + 0.1 * g;
      v64 = 0.95 * v64 + 0.05 * g * g;
      const Tensor m_hat = m64 / (1 - std::pow(0.9, t)), v_hat = v64 / (1 - std::pow(0.95, t));
      p64 = p64 * (1 - lr * 0.1) - lr * m_hat / (v_hat.sqrt() + 1e-8);
    }
    QVERIFY(close(ours, p64.to(at::kFloat)));
  }

  void sgd_is_libtorchs_data() {
    QTest::addColumn<double>("momentum");
    QTest::addColumn<bool>("nesterov");
    QTest::addColumn<double>("weight_decay");
    QTest::newRow("plain") << 0.0 << false << 0.0;
    QTest::newRow("momentum") << 0.9 << false << 0.0;
    QTest::newRow("weight decay") << 0.9 << false << 0.1;
    QTest::newRow("nesterov") << 0.8 << true << 0.1;
  }
  void sgd_is_libtorchs() {
    QFETCH(double, momentum);
    QFETCH(bool, nesterov);
    QFETCH(double, weight_decay);
    const double lr = 0.1, factor = 0.5;
    const Tensor p = at::randn({70001});
    Tensor ours = p.clone(), buffer = at::zeros_like(p), theirs = p.clone(),
           their_buffer = at::zeros_like(p);
    const kernels::Tensors buffers =
        momentum > 0 ? kernels::Tensors{their_buffer} : kernels::Tensors{};
    for (int64_t t = 1; t <= 5; ++t) {
      const Tensor grad = at::randn_like(p);
      kernels::update_("heddle::sgd_", {{ours}, {buffer}}, {grad},
                       at::scalar_tensor(lr, at::kDouble), at::scalar_tensor(t, at::kLong),
                       at::scalar_tensor(factor, at::kFloat), {momentum, nesterov, weight_decay});
      at::_fused_sgd_({theirs}, {grad * factor}, buffers, weight_decay, momentum, lr, 0, nesterov,
                      false, t == 1);
    }
    QVERIFY(close(ours, theirs, 1e-6, 1e-6));
    if (momentum > 0) QVERIFY(close(buffer, their_buffer, 1e-6, 1e-6));
  }

  void a_gradient_that_is_not_finite_changes_nothing() {
    const Tensor grad = at::full({5}, NAN), before = at::ones({5});
    const Tensor factor =
        kernels::clip_factor(kernels::total_norm(kernels::squared_norms({grad})).sqrt(), 1.0);
    Tensor p = before.clone(), m = at::zeros({5}), v = at::zeros({5});
    adamw_({{p}, {m}, {v}}, {grad}, at::scalar_tensor(1.0, at::kDouble),
           at::scalar_tensor(1, at::kLong), factor);
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
    adamw_({together[0], together[1], together[2]}, grads, lr, step, factor);
    for (size_t i : {2, 0, 1})
      adamw_({{apart[0][i]}, {apart[1][i]}, {apart[2][i]}}, {grads[i]}, lr, step, factor);
    const List norms = kernels::squared_norms(grads);
    for (size_t i = 0; i < 3; ++i) {
      for (int state = 0; state < 3; ++state)
        QVERIFY(at::equal(together[state][i], apart[state][i]));
      QVERIFY(at::equal(norms[i], kernels::squared_norms({grads[i]}).front()));
    }
  }

  void all_threads_of_a_rank_work() {
    const auto threads = [] {
      return QDir("/proc/self/task").entryList(QDir::Dirs | QDir::NoDotAndDotDot).size();
    };
    const auto wanted = static_cast<int>(threads()) + 5;
    const Tensor x = at::ones({wanted * 16384});
    at::set_num_threads(wanted);
    kernels::swiglu(x, x);
    at::set_num_threads(2);
    QCOMPARE_GE(threads(), wanted);
  }

  void lists_of_different_lengths_are_refused() {
    const Tensor x = at::ones({3}), scalar = at::scalar_tensor(1.0, at::kDouble);
    QVERIFY_EXCEPTION_THROWN(adamw_({{x}, {x}, {x}}, {x, x}, scalar, scalar, scalar), c10::Error);
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

HEDDLE_TEST(KernelsTest)
#include "kernels_test.moc"
