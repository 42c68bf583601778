// Layers that read the same rows, as one product: the numbers of each by itself, and which may.
#include "engine/model/joined_linear.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <QTest>

#include "tests/support/test_class.h"

using namespace heddle;
using at::Tensor;
using model::JoinedLinear;
using model::LinearLayer;
using model::NamedLayer;
using model::Parameter;
using Tensors = std::vector<Tensor>;

namespace {

constexpr int64_t kIn = 256;  // a row of which fills what buffers of GPUs are aligned to

Parameter parameter(const std::string& name, std::vector<int64_t> shape,
                    const model::Sharding& sharding) {
  std::vector<int64_t> shard = shape;
  shard[0] = sharding.shard_rows(shape[0]);
  return {.name = name,
          .shape = std::move(shape),
          .shard = at::randn(shard, at::kFloat),
          .sharding = sharding,
          .reads = {}};
}

/// wq of 6 rows, wk and wv of 2.
std::vector<LinearLayer> layers(const model::Sharding& sharding, bool biased = false,
                                int64_t in = kIn) {
  std::vector<LinearLayer> all;
  for (const auto& [name, rows] :
       {std::pair<std::string, int64_t>{"wq", 6}, {"wk", 2}, {"wv", 2}}) {
    LinearLayer layer{parameter("attention." + name + ".weight", {rows, in}, sharding), {}};
    if (biased) layer.bias = parameter("attention." + name + ".bias", {rows}, sharding);
    all.push_back(std::move(layer));
  }
  return all;
}

std::vector<NamedLayer> named(std::vector<LinearLayer>& layers) {
  return {{"wq", layers[0]}, {"wk", layers[1]}, {"wv", layers[2]}};
}

const model::Sharding kCast{.ranks = 1, .group = {}, .compute = at::kBFloat16};
const model::Sharding kGathered{.ranks = 2, .group = "dp_shard", .compute = at::kBFloat16};
const recipe::Float8Layers kNone;

}  // namespace

class JoinedLinearTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void numbers_are_those_of_each_layer_data() {
    QTest::addColumn<bool>("biased");
    QTest::newRow("weights") << false;
    QTest::newRow("weights and biases") << true;
  }
  void numbers_are_those_of_each_layer() {
    QFETCH(bool, biased);
    at::manual_seed(1);
    std::vector<LinearLayer> all = layers(kCast, biased);
    const Tensor rows = at::randn({5, kIn}).to(at::kBFloat16).set_requires_grad(true);
    const JoinedLinear joined(named(all));
    Tensor x = rows;
    const Tensor y = joined(x);
    Tensors leaves{rows}, exact{rows.detach().to(at::kDouble).set_requires_grad(true)}, parts;
    for (LinearLayer& layer : all) {
      leaves.push_back(layer.weight.reads.front());
      exact.push_back(leaves.back().detach().to(at::kDouble).set_requires_grad(true));
      parts.push_back(exact.front().mm(exact.back().t()));
      if (!layer.bias) continue;
      leaves.push_back(layer.bias->reads.front());
      exact.push_back(leaves.back().detach().to(at::kDouble).set_requires_grad(true));
      parts.back() = parts.back() + exact.back();
    }
    const Tensor expected = at::cat(parts, 1);
    QVERIFY(at::allclose(y.to(at::kDouble), expected, 0.02, 0.02));
    const Tensor direction = at::randn(y.sizes());
    const auto ours = torch::autograd::grad({y}, leaves, {direction.to(at::kBFloat16)});
    const auto theirs =
        torch::autograd::grad({expected}, exact, {direction.to(at::kBFloat16).to(at::kDouble)});
    for (size_t i = 0; i < ours.size(); ++i)
      QVERIFY2(at::allclose(ours[i].to(at::kDouble), theirs[i], 0.03, 0.03),
               qPrintable(QString::number(i)));
  }

  void only_what_is_made_side_by_side_is_joined() {
    std::vector<LinearLayer> cast = layers(kCast), gathered = layers(kGathered);
    QVERIFY(JoinedLinear::joins(named(cast), kNone));
    QVERIFY(JoinedLinear::joins(named(gathered), kNone));

    std::vector<LinearLayer> states = layers({.ranks = 1, .group = {}, .compute = at::kFloat});
    QVERIFY2(!JoinedLinear::joins(named(states), kNone), "the optimizer's would be copied");

    std::vector<LinearLayer> padded =
        layers({.ranks = 4, .group = "dp_shard", .compute = at::kBFloat16});
    QVERIFY2(!JoinedLinear::joins(named(padded), kNone), "there is padding between them");

    std::vector<LinearLayer> narrow = layers(kCast, false, 4);
    QVERIFY2(!JoinedLinear::joins(named(narrow), kNone), "the second would lie out of line");

    recipe::Precisions precision;
    precision.float8 = recipe::Float8::tensorwise;
    QVERIFY2(!JoinedLinear::joins(named(cast), recipe::Float8Layers(precision)),
             "each has its own scale");
  }
};

HEDDLE_TEST(JoinedLinearTest)
#include "joined_linear_test.moc"
