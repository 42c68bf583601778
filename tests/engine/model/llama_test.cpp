// The model by itself against transformers: logits, loss and gradients of models of other shapes,
// run eagerly on one rank in this process.
#include "engine/model/llama.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <QTest>
#include <cstring>
#include <map>

#include "engine/checkpoint/hugging_face.h"
#include "engine/model/rope_table.h"
#include "tests/support/test_class.h"

using namespace heddle;
using at::Tensor;

namespace {

const std::string kFixtures = HEDDLE_SOURCE_DIR "/tests/fixtures/";

Tensor tensor_of(const checkpoint::SafetensorsFile& file, const std::string& name,
                 at::ScalarType type) {
  const checkpoint::TensorInfo* info = file.find(name);
  if (!info) qFatal("no %s", name.c_str());
  Tensor out = at::zeros(info->shape, at::TensorOptions(type));
  const auto bytes = file.data(*info);
  std::memcpy(out.mutable_data_ptr(), bytes.data(), bytes.size());
  return out;
}

double off(const Tensor& ours, const Tensor& theirs) {
  return (ours - theirs).abs().max().item<double>();
}

/// A parameter's numbers in Hugging Face's order.
Tensor in_their_order(const holdings::Parameter& parameter, const Tensor& own) {
  Tensor permuted = at::zeros_like(own);
  for (int64_t row = 0; row < parameter.rows(); ++row)
    permuted[parameter.hugging_face_row(row)].copy_(own[row]);
  return permuted;
}

}  // namespace

class LlamaTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void logits_and_gradients_are_those_of_transformers_data() {
    QTest::addColumn<QString>("fixture");
    for (const char* fixture :
         {"reference/llama-tiny", "reference/llama-tiny-scaled-rope-tied", "shapes/head-dim-linear",
          "shapes/biases-yarn", "shapes/qwen2", "shapes/qwen3-tied"})
      QTest::newRow(fixture) << fixture;
  }
  void logits_and_gradients_are_those_of_transformers() {
    QFETCH(QString, fixture);
    const std::string folder = kFixtures + fixture.toStdString();
    const auto weights = checkpoint::HuggingFaceCheckpoint::open(folder);
    QVERIFY2(weights.has_value(), weights ? "" : weights.error().message.c_str());
    const auto expected = checkpoint::SafetensorsFile::open(folder + "/expected.safetensors");
    const Tensor ids = tensor_of(*expected, "input_ids", at::kLong)[0];
    const int64_t batch = ids.size(0), length = ids.size(1) - 1;

    model::Llama llama(
        weights->model(), {}, recipe::Float8Layers(recipe::Precisions()), weights->parameters(),
        model::make_rope_table(weights->model(), length), [&](const holdings::State& state) {
          Tensor shard = at::zeros(state.shape, at::kFloat);
          const auto read =
              weights->read_rows(state.of, 0, state.shape[0], shard.mutable_data_ptr<float>());
          if (!read) qFatal("%s", read.error().message.c_str());
          return shard;
        });
    model::Batch micro;
    micro.tokens = ids.narrow(1, 0, length).contiguous();
    micro.labels = ids.narrow(1, 1, length).contiguous();
    micro.positions = at::arange(length, at::kLong).expand({batch, length}).contiguous();
    micro.vocabulary_begin = at::zeros({}, at::kLong);
    const Tensor logits = llama.logits(llama.forward(micro));
    const Tensor theirs = tensor_of(*expected, "logits", at::kFloat);
    const double logits_off = off(logits.detach(), theirs.view({batch * length, -1}));
    QVERIFY2(logits_off <= 1e-4, qPrintable(QString("off by %1").arg(logits_off)));

    const Tensor loss = llama.loss(logits, micro) / static_cast<double>(batch * length);
    std::vector<Tensor> leaves;
    for (model::Parameter* parameter : llama.parameters())
      leaves.insert(leaves.end(), parameter->reads.begin(), parameter->reads.end());
    const auto grads = torch::autograd::grad({loss}, leaves);
    std::map<std::string, Tensor> by_name;
    auto next = grads.begin();
    for (model::Parameter* parameter : llama.parameters())
      for (size_t i = 0; i < parameter->reads.size(); ++i, ++next) {
        Tensor& sum = by_name[parameter->name];
        sum = sum.defined() ? sum + *next : *next;
      }
    QCOMPARE(by_name.size(), weights->parameters().size());
    for (const holdings::Parameter& parameter : weights->parameters()) {
      const Tensor want = tensor_of(*expected, "grad." + parameter.hugging_face_name, at::kFloat);
      const double grad_off = off(in_their_order(parameter, by_name.at(parameter.name())), want);
      QVERIFY2(grad_off <= 1e-4 * want.abs().max().item<double>() + 1e-8,
               qPrintable(QString("%1 is off by %2").arg(parameter.name().c_str()).arg(grad_off)));
    }
  }
};

HEDDLE_TEST(LlamaTest)
#include "llama_test.moc"
