// A linear layer in 8 bits against torchao's (tests/fixtures/float8), and what it is in a graph.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <QTest>

#include "engine/graph/recorder.h"
#include "engine/graph/trace_kernels.h"
#include "engine/kernels/operators.h"
#include "engine/model/linear.h"
#include "tests/support/float8_fixture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using at::Tensor;
using recipe::Float8;
using Tensors = std::vector<Tensor>;

namespace {

Tensor given(const char* name) {
  return float8_fixture(QString("linear.%1").arg(name), at::kBFloat16);
}

// The same products of the same numbers, summed in another order: they differ in their last bit.
double largest_difference(const Tensor& a, const Tensor& b) {
  const Tensor x = a.to(at::kDouble), y = b.to(at::kDouble);
  return ((x - y).abs().max() / y.abs().max()).item<double>();
}

}  // namespace

class Float8LinearTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void results_and_gradients_are_torchaos_data() {
    QTest::addColumn<int>("float8");
    QTest::newRow("tensorwise") << static_cast<int>(Float8::tensorwise);
    QTest::newRow("rowwise") << static_cast<int>(Float8::rowwise);
  }
  void results_and_gradients_are_torchaos() {
    QFETCH(int, float8);
    const QString recipe = QString("linear.%1.").arg(QTest::currentDataTag());
    const Tensor leaf = given("x").set_requires_grad(true),
                 weight = given("weight").set_requires_grad(true);
    Tensor x = leaf;
    const Tensor y = model::linear(x, {weight}, static_cast<Float8>(float8));
    const Tensors gradients = torch::autograd::grad({y}, {leaf, weight}, {given("dy")});
    for (const auto& [name, made] :
         {std::pair("y", y), {"dx", gradients[0]}, {"dweight", gradients[1]}}) {
      const double off = largest_difference(made, float8_fixture(recipe + name, at::kBFloat16));
      qInfo("%s: %.1e of the largest", name, off);
      QVERIFY2(off < 1.0 / 256, name);
    }
  }

  // As if it had come in bf16, with gradients of the stand-in for it.
  void a_weight_that_came_in_8_bits_is_taken_as_it_came() {
    const Tensor leaf = given("x").set_requires_grad(true),
                 weight = given("weight").set_requires_grad(true),
                 stands_in = at::zeros({}, at::kBFloat16).expand(weight.sizes());
    stands_in.set_requires_grad(true);
    const auto gathered =
        kernels::float8_quantize(weight.detach(), at::kFloat8_e4m3fn, false, false);
    Tensor x = leaf, again = leaf;
    const Tensor plain = model::linear(x, {weight}, Float8::tensorwise),
                 same = model::linear(again, {stands_in, gathered}, Float8::tensorwise);
    QVERIFY(same.equal(plain));
    const Tensors of_plain = torch::autograd::grad({plain}, {leaf, weight}, {given("dy")}),
                  of_same = torch::autograd::grad({same}, {leaf, stands_in}, {given("dy")});
    for (size_t i = 0; i < of_plain.size(); ++i) QVERIFY(of_same[i].equal(of_plain[i]));
  }

  // Over tensor-parallel ranks torchao's scale of a tensor is the whole tensor's, for which ranks
  // meet at each conversion; Heddle's is its part's alone. It is as fine at least: here one
  // part's numbers are 2²⁰ times as large as the other's, which the scale of both makes zeros of.
  void a_part_is_scaled_by_its_own_largest_number() {
    const Tensor part = given("weight"), larger = part * 0x1p20, both = at::cat({part, larger});
    const auto quantized = [](const Tensor& x) {
      return kernels::float8_quantize(x, at::kFloat8_e4m3fn, false, false);
    };
    const auto off = [&](const kernels::Float8Matrix& made) {
      const Tensor values = made.values.narrow(0, 0, part.size(0)).to(at::kFloat);
      return largest_difference(values * made.inverse_scale, part);
    };
    const double own_scale = quantized(part).inverse_scale.item<double>(),
                 largest = part.abs().max().item<double>();
    QVERIFY(std::abs(own_scale * 448 / largest - 1) < 1e-6);
    QVERIFY(std::abs(quantized(both).inverse_scale.item<double>() / own_scale / 0x1p20 - 1) < 1e-6);
    // Half a unit of the last of e4m3's three bits, of the largest number; all of it.
    QVERIFY(off(quantized(part)) <= 0x1p-4);
    QCOMPARE(off(quantized(both)), 1.0);
  }

  void products_are_in_8_bits_and_nothing_of_them_is_kept() {
    graph::register_trace_kernels();
    graph::Recorder recorder;
    const auto input = [&](const char* name, at::IntArrayRef sizes) {
      return recorder.input(name, sizes, at::kBFloat16).set_requires_grad(true);
    };
    const Tensor x = input("x", {32, 16}), a = input("a", {48, 16}), b = input("b", {48, 16});
    Tensor read = x;
    Tensor y = model::linear(read, {a}, Float8::tensorwise);
    y = y + model::linear(read, {b}, Float8::tensorwise);
    recorder.output("y", y);
    recorder.set_phase(graph::Phase::backward);
    const Tensor dy = recorder.input("dy", {32, 48}, at::kBFloat16);
    for (const Tensor& gradient : torch::autograd::grad({y}, {x, a, b}, {dy}))
      recorder.output("gradient", gradient);
    const graph::Graph graph = recorder.finish();
    std::map<std::string, int> forward, backward;
    std::set<graph::ValueId> converted;
    for (const graph::Node& node : graph.nodes) {
      const bool is_forward = node.phase == graph::Phase::forward;
      ++(is_forward ? forward : backward)[node.op.text()];
      if (is_forward && node.op == "heddle.float8_quantize")
        converted.insert(node.outputs.begin(), node.outputs.end());
      if (!is_forward)
        graph::for_each_use(
            node, [&](const graph::Use& use) { QVERIFY(!converted.contains(use.value)); });
    }
    QCOMPARE(forward["heddle.float8_quantize"], 4);
    QCOMPARE(forward["heddle.float8_mm"], 2);
    QCOMPARE(backward["heddle.float8_quantize"], 8);
    QCOMPARE(backward["heddle.float8_mm"], 4);
    QCOMPARE(backward["aten.add.Tensor"], 1);
  }
};

HEDDLE_TEST(Float8LinearTest)
#include "float8_linear_test.moc"
