// Starting weights: the same in any cut, with the spread and the cut that Llama 3's init asks for.
#include "engine/model/init.h"

#include <QTest>
#include <algorithm>
#include <cmath>

#include "tests/support/test_class.h"

using namespace heddle::model;

namespace {

std::vector<float> filled(const Init& init, int64_t begin, int64_t count, int64_t seed = 0,
                          const char* name = "w") {
  std::vector<float> values(static_cast<size_t>(count));
  fill(init, seed, name, begin, count, values.data());
  return values;
}

}  // namespace

class InitTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_part_equals_that_part_of_the_whole() {
    const Init init{Init::Kind::truncated_normal, 0.02, 0.03};
    const auto whole = filled(init, 0, 10001);
    for (int64_t begin : {0, 1, 7, 500, 4050, 4095, 4096, 5000}) {
      const auto part = filled(init, begin, 5001);
      QVERIFY(std::equal(part.begin(), part.end(), whole.begin() + begin));
    }
  }

  void seed_and_name_make_another_tensor() {
    const Init init{Init::Kind::normal, 1.0, 0.0};
    QVERIFY(filled(init, 0, 8) != filled(init, 0, 8, 1));
    QVERIFY(filled(init, 0, 8) != filled(init, 0, 8, 0, "v"));
  }

  void spread_and_cut() {
    const auto normal = filled({Init::Kind::normal, 1.0, 0.0}, 0, 200000);
    double sum = 0, squares = 0;
    for (float x : normal) sum += x, squares += static_cast<double>(x) * x;
    QVERIFY(std::abs(sum / 200000) < 0.01);
    QVERIFY(std::abs(std::sqrt(squares / 200000) - 1.0) < 0.01);
    const auto cut = filled({Init::Kind::truncated_normal, 1.0, 1.5}, 0, 20000);
    QVERIFY(*std::max_element(cut.begin(), cut.end()) <= 1.5F);
    QVERIFY(*std::max_element(cut.begin(), cut.end()) > 1.45F);
  }

  void parameters_start_as_llama_3_says() {
    heddle::recipe::Model model;
    model.dim = 256;
    QVERIFY(init_of(model, "layers.3.attention_norm.weight").kind == Init::Kind::ones);
    QCOMPARE(init_of(model, "tok_embeddings.weight").sigma, 1.0);
    QCOMPARE(init_of(model, "layers.3.attention.wq.weight").sigma, 0.02);
    QCOMPARE(init_of(model, "layers.3.feed_forward.w2.weight").sigma, 0.02 / std::sqrt(8.0));
    QCOMPARE(init_of(model, "layers.3.feed_forward.w3.weight").sigma, 0.02 / std::sqrt(8.0));
    QCOMPARE(init_of(model, "output.weight").sigma, 1.0 / 16);
    QCOMPARE(init_of(model, "output.weight").cut, 3.0 / 16);
    // Tied, the embeddings are the output matrix: logits must not start far apart.
    model.tied_embeddings = true;
    QCOMPARE(init_of(model, "tok_embeddings.weight").sigma, 1.0 / 16);
    QCOMPARE(init_of(model, "tok_embeddings.weight").cut, 3.0 / 16);
  }
};

HEDDLE_TEST(InitTest)
#include "init_test.moc"
