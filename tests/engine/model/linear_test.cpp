// A linear layer gives x·Wᵀ and its gradients; where several read one x, the products sum the
// gradient of it.
#include "engine/model/linear.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <QTest>

#include "engine/graph/recorder.h"
#include "engine/graph/trace_kernels.h"
#include "tests/support/test_class.h"

using namespace heddle;
using at::Tensor;
using Tensors = std::vector<Tensor>;

namespace {

// Three layers read one x.
Tensor three_layers(Tensor x, const Tensors& weights) {
  Tensor sum = model::linear(x, {weights[0]});
  sum = sum + model::linear(x, {weights[1]});
  return sum + model::linear(x, {weights[2]});
}

Tensor plainly(Tensor x, const Tensors& weights) {
  return x.mm(weights[0].t()) + x.mm(weights[1].t()) + x.mm(weights[2].t());
}

// The result, and the gradients of the leaves: x and the weights.
Tensors with_gradients(Tensor (*layers)(Tensor, const Tensors&), const Tensors& leaves) {
  const Tensor y = layers(leaves.front(), {leaves.begin() + 1, leaves.end()});
  Tensors all{y};
  for (Tensor& gradient : torch::autograd::grad({(y * y).sum()}, leaves))
    all.push_back(std::move(gradient));
  return all;
}

}  // namespace

class LinearTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void results_and_gradients_are_those_of_plain_products() {
    at::manual_seed(1);
    Tensors leaves;
    for (const int64_t rows : {5, 3, 3, 3})
      leaves.push_back(at::randn({rows, 4}).set_requires_grad(true));
    const Tensors ours = with_gradients(&three_layers, leaves);
    const Tensors expected = with_gradients(&plainly, leaves);
    for (size_t i = 0; i < ours.size(); ++i)
      QVERIFY2(at::allclose(ours[i], expected[i], 1e-5, 1e-6), qPrintable(QString::number(i)));
  }

  void no_gradient_of_x_is_summed_outside_of_a_product() {
    graph::register_trace_kernels();
    graph::Recorder recorder;
    Tensors leaves;
    for (const int64_t rows : {5, 3, 3, 3}) {
      const std::string name = "leaf" + std::to_string(leaves.size());
      leaves.push_back(recorder.input(name, {rows, 4}, at::kFloat).set_requires_grad(true));
    }
    const Tensor y = three_layers(leaves.front(), {leaves.begin() + 1, leaves.end()});
    recorder.set_phase(graph::Phase::backward);
    const Tensors gradients =
        torch::autograd::grad({y}, leaves, {recorder.input("dy", {5, 3}, at::kFloat)});
    for (const Tensor& gradient : gradients) recorder.output("gradient", gradient);
    std::map<std::string, int> backward;
    for (const graph::Node& node : recorder.finish().nodes)
      if (node.phase == graph::Phase::backward) ++backward[node.op.text()];
    QCOMPARE(backward["aten.addmm_"], 2);
    QCOMPARE(backward["aten.mm"], 4);
    QVERIFY(!backward.contains("aten.add.Tensor"));
  }
};

HEDDLE_TEST(LinearTest)
#include "linear_test.moc"
