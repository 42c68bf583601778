// Loss and gradients chunk by chunk equal all logits' at once, and no more logits than a chunk's
// are there at a time.
#include "engine/model/chunked_loss.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <QTest>

#include "engine/graph/recorder.h"
#include "engine/graph/trace_kernels.h"
#include "engine/kernels/operators.h"
#include "tests/support/test_class.h"

using namespace heddle;
using at::Tensor;

namespace {

constexpr int64_t kTokens = 12, kDim = 5, kWords = 7;

// The loss, and the gradients of x and weight.
std::vector<Tensor> loss_with_gradients(const Tensor& loss, const Tensor& x, const Tensor& weight) {
  std::vector<Tensor> all{loss};
  for (Tensor& gradient : torch::autograd::grad({loss}, {x, weight}))
    all.push_back(std::move(gradient));
  return all;
}

}  // namespace

class ChunkedLossTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void it_is_the_loss_of_all_logits_data() {
    QTest::addColumn<int64_t>("chunks");
    QTest::addColumn<bool>("bf16");
    for (const int64_t chunks : {1, 2, 3, 12})
      for (const bool bf16 : {false, true})
        QTest::addRow("%d chunks, %s", static_cast<int>(chunks), bf16 ? "bf16" : "fp32")
            << chunks << bf16;
  }
  void it_is_the_loss_of_all_logits() {
    QFETCH(int64_t, chunks);
    QFETCH(bool, bf16);
    at::manual_seed(3);
    const auto type = bf16 ? at::kBFloat16 : at::kFloat;
    const Tensor x = at::randn({kTokens, kDim}).to(type).set_requires_grad(true);
    const Tensor weight = at::randn({kWords, kDim}).to(type).set_requires_grad(true);
    Tensor labels = at::randint(kWords, {kTokens}, at::kLong);
    labels[4] = -1;  // belongs to no sample
    const Tensor count = at::full({}, 11.0, at::kFloat);
    const auto whole =
        loss_with_gradients(kernels::cross_entropy(x.mm(weight.t()), labels) / count, x, weight);
    const auto ours =
        loss_with_gradients(model::chunked_loss(x, weight, labels, count, chunks), x, weight);
    for (size_t i = 0; i < whole.size(); ++i) {
      QCOMPARE(ours[i].scalar_type(), whole[i].scalar_type());
      // In bf16 a weight's gradient is rounded once a chunk instead of once.
      QVERIFY2(at::allclose(ours[i], whole[i], bf16 ? 2e-2 : 1e-5, bf16 ? 4e-3 : 1e-6),
               qPrintable(QString::number(i)));
    }
  }

  void captured_no_value_is_as_large_as_all_logits() {
    graph::register_trace_kernels();
    graph::Recorder recorder;
    constexpr int64_t kMany = 64, kVocabulary = 4096;
    const Tensor x = recorder.input("x", {kMany, kDim}, at::kFloat).set_requires_grad(true);
    const Tensor weight =
        recorder.input("weight", {kVocabulary, kDim}, at::kFloat).set_requires_grad(true);
    const Tensor loss = model::chunked_loss(x, weight, recorder.input("labels", {kMany}, at::kLong),
                                            recorder.input("token_count", {}, at::kFloat), 4);
    for (const Tensor& each : loss_with_gradients(loss, x, weight)) recorder.output("result", each);
    const graph::Graph graph = recorder.finish();
    int64_t largest = 0;
    std::map<std::string, int> count;
    for (const graph::Value& value : graph.values) largest = std::max(largest, value.bytes());
    for (const graph::Node& node : graph.nodes) ++count[node.op.text()];
    QCOMPARE(largest, kMany / 4 * kVocabulary * 4);
    // Logits and the gradient of x in each chunk, the first part of the weight's, what is added.
    QCOMPARE(count["aten.mm"], 4 + 4 + 1);
    QCOMPARE(count["aten.addmm_"], 3);
  }
};

HEDDLE_TEST(ChunkedLossTest)
#include "chunked_loss_test.moc"
