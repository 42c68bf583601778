// Matrices in 8 bits, bit for bit torchao's (tests/fixtures/float8), and their product.
#include <ATen/ATen.h>

#include <QTest>

#include "engine/kernels/operators.h"
#include "tests/support/float8_fixture.h"
#include "tests/support/test_class.h"

using namespace heddle;
using at::Tensor;

namespace {

// NaN has two signs, which mean nothing.
int different_bytes(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes() || a.nbytes() != b.nbytes()) return -1;
  const auto *x = static_cast<const uint8_t*>(a.const_data_ptr()),
             *y = static_cast<const uint8_t*>(b.const_data_ptr());
  int count = 0;
  const auto is_nan = [](uint8_t number) { return (number & 0x7F) == 0x7F; };
  for (size_t i = 0; i < a.nbytes(); ++i)
    count += x[i] != y[i] && !(is_nan(x[i]) && is_nan(y[i])) ? 1 : 0;
  return count;
}

Tensor dequantized(const kernels::Float8Matrix& matrix) {
  return matrix.values.to(at::kFloat) * matrix.inverse_scale;
}

}  // namespace

class Float8Test : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void scales_and_numbers_are_torchaos_data() {
    QTest::addColumn<QString>("matrix");
    QTest::addColumn<QString>("how");
    QTest::addColumn<bool>("transposed");
    for (const char* matrix : {"every", "spread", "special", "zeros"})
      for (const char* how : {"tensorwise.e4m3", "tensorwise.e5m2", "rowwise.e4m3"})
        for (const bool transposed : {false, true})
          QTest::addRow("%s, %s%s", matrix, how, transposed ? ", transposed" : "")
              << matrix << how << transposed;
  }
  void scales_and_numbers_are_torchaos() {
    QFETCH(QString, matrix);
    QFETCH(QString, how);
    QFETCH(bool, transposed);
    const QString name = matrix + "." + how + (transposed ? ".transposed" : "");
    const Tensor x = float8_fixture(matrix + ".x", at::kBFloat16);
    const auto type = how.endsWith("e4m3") ? at::kFloat8_e4m3fn : at::kFloat8_e5m2;
    const auto made = kernels::float8_quantize(x, type, how.startsWith("rowwise"), transposed);
    QVERIFY(made.values.scalar_type() == type && made.values.is_contiguous());
    const Tensor inverse_scale = float8_fixture(name + ".inverse_scale", at::kFloat);
    QVERIFY(at::allclose(made.inverse_scale, inverse_scale, 0, 0, true));
    QCOMPARE(different_bytes(made.values, float8_fixture(name + ".values", at::kByte)), 0);
  }

  void a_matrix_of_any_sides_is_converted_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    for (const auto& [rows, columns] : {std::pair(1, 1), {1, 200}, {200, 1}, {63, 65}, {130, 257}})
      QTest::addRow("%d x %d", rows, columns) << rows << columns;
  }
  void a_matrix_of_any_sides_is_converted() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    at::manual_seed(rows);
    const Tensor x = at::randn({rows, columns}).to(at::kBFloat16);
    for (const bool by_row : {false, true}) {
      // Matrices that are not contiguous, too.
      const auto plain = kernels::float8_quantize(x, at::kFloat8_e4m3fn, by_row, false);
      const auto view =
          kernels::float8_quantize(x.t().contiguous().t(), at::kFloat8_e4m3fn, by_row, false);
      QCOMPARE(different_bytes(view.values, plain.values), 0);
      const auto turned = kernels::float8_quantize(x, at::kFloat8_e4m3fn, by_row, true);
      const auto before =
          kernels::float8_quantize(x.t().contiguous(), at::kFloat8_e4m3fn, by_row, false);
      QCOMPARE(different_bytes(turned.values, before.values), 0);
      QVERIFY(turned.inverse_scale.equal(before.inverse_scale));
      QVERIFY(at::allclose(dequantized(plain), x.to(at::kFloat), 1.0 / 16, 1e-2));
    }
  }

  // Ranks that hold rows of a weight convert it together.
  void shards_of_a_weight_are_the_whole_ones_bits() {
    at::manual_seed(5);
    const Tensor weights[] = {at::randn({96, 80}) * 0.02, at::randn({7, 48}) * 3,
                              at::zeros({16, 16})};
    constexpr int kRanks = 4;
    std::vector<std::vector<Tensor>> shards(kRanks);
    Tensor largest = at::zeros({3});
    for (auto& own : shards) {
      for (const Tensor& weight : weights) {
        const int64_t rows = (weight.size(0) + kRanks - 1) / kRanks,
                      first = std::min<int64_t>(rows * (&own - shards.data()), weight.size(0)),
                      there = std::min(rows, weight.size(0) - first);
        Tensor shard = at::zeros({rows, weight.size(1)});
        shard.narrow(0, 0, there).copy_(weight.narrow(0, first, there));
        own.push_back(shard);
      }
      largest = largest.maximum(kernels::float8_largest(own));
    }
    for (int64_t i = 0; i < 3; ++i) {
      const auto whole =
          kernels::float8_quantize(weights[i].to(at::kBFloat16), at::kFloat8_e4m3fn, false, false);
      std::vector<Tensor> parts;
      for (const auto& own : shards) {
        const auto part = kernels::float8_cast(own[static_cast<size_t>(i)], largest, i);
        QVERIFY(part.inverse_scale.equal(whole.inverse_scale));
        parts.push_back(part.values.view(at::kByte));
      }
      const Tensor gathered =
          at::cat(parts).narrow(0, 0, weights[i].size(0)).view(at::kFloat8_e4m3fn);
      QCOMPARE(different_bytes(gathered, whole.values), 0);
      const auto turned = kernels::float8_transpose({gathered, whole.inverse_scale});
      QVERIFY(turned.values.is_contiguous());
      QCOMPARE(
          different_bytes(turned.values, kernels::float8_quantize(weights[i].to(at::kBFloat16),
                                                                  at::kFloat8_e4m3fn, false, true)
                                             .values),
          0);
    }
  }

  void a_product_is_that_of_the_converted_numbers_data() {
    QTest::addColumn<bool>("by_row");
    QTest::newRow("a scale a tensor") << false;
    QTest::newRow("a scale a row") << true;
  }
  void a_product_is_that_of_the_converted_numbers() {
    QFETCH(bool, by_row);
    at::manual_seed(3);
    const Tensor a = at::randn({37, 80}).to(at::kBFloat16),
                 b = at::randn({51, 80}).to(at::kBFloat16);
    const auto qa = kernels::float8_quantize(a, at::kFloat8_e5m2, by_row, false),
               qb = kernels::float8_quantize(b, at::kFloat8_e4m3fn, by_row, false);
    const Tensor product = kernels::float8_mm(qa, qb, true);
    QVERIFY(product.scalar_type() == at::kBFloat16 && product.is_contiguous());
    const Tensor exact = dequantized(qa).to(at::kDouble).mm(dequantized(qb).to(at::kDouble).t());
    QVERIFY(at::allclose(product.to(at::kDouble), exact, 1.0 / 256, 1e-5));
    QVERIFY(product.equal(kernels::float8_mm(qa, qb, false)));
  }

  void numbers_that_are_none_stay_so() {
    Tensor x = at::ones({16, 16}, at::kBFloat16);
    x[3][4] = INFINITY;
    const Tensor other = at::ones({16, 16}, at::kBFloat16);
    for (const bool by_row : {false, true}) {
      const auto product = kernels::float8_mm(
          kernels::float8_quantize(x, at::kFloat8_e4m3fn, by_row, false),
          kernels::float8_quantize(other, at::kFloat8_e4m3fn, by_row, false), true);
      QVERIFY(product[3].isnan().all().item<bool>());
    }
  }

  void what_does_not_fit_is_refused() {
    const auto says = [](const auto& call) -> QString {
      try {
        call();
      } catch (const c10::Error& error) {
        return error.what_without_backtrace();
      }
      return "nothing";
    };
    const Tensor x = at::ones({4, 6}, at::kBFloat16);
    QVERIFY(says([&] {
              kernels::float8_quantize(x.to(at::kFloat), at::kFloat8_e4m3fn, false, false);
            }).contains("float8_quantize takes a bf16 matrix, not Float [4, 6]"));
    QVERIFY(says([&] {
              kernels::float8_quantize(x, at::kHalf, false, false);
            }).contains("float8_quantize gives e4m3 or e5m2, not Half"));
    const auto a = kernels::float8_quantize(x, at::kFloat8_e4m3fn, false, false),
               turned = kernels::float8_quantize(x, at::kFloat8_e4m3fn, false, true),
               by_row = kernels::float8_quantize(x, at::kFloat8_e4m3fn, true, false);
    QVERIFY(says([&] {
              kernels::float8_mm(a, turned, true);
            }).contains("float8_mm takes 8-bit a [m, k] and b [n, k], not"));
    QVERIFY(says([&] {
              kernels::float8_mm(a, by_row, true);
            }).contains("float8_mm takes fp32 scales of both tensors or of the rows of both"));
  }
};

HEDDLE_TEST(Float8Test)
#include "float8_test.moc"
