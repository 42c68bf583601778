// RMSNorm's CUDA kernels, as host code, against the formulas.
#include <QTest>

#include "tests/engine/kernels/host/check.h"
#include "tests/support/test_class.h"

using namespace heddle::emulator;
namespace cuda = heddle::kernels::cuda;

namespace {

constexpr double kEps = 1e-5;

struct Case {
  size_t rows, n, shift;
};

// Too many columns for backward's shared memory, and odd ones.
const std::vector<Case> few_rows = {{1, 8, 0},    {3, 100, 0},  {1, 2048, 1},
                                    {5, 2056, 0}, {2, 8200, 0}, {3, 8201, 0}};
// Rows that a block of backward sums two or three of.
const std::vector<Case> many_rows = {{1100, 24, 0}, {600, 25, 0}, {530, 2100, 0}};

template <typename T, typename W>
struct Given {
  Case of;
  Array<T> x = Array<T>::random(of.rows * of.n, of.shift),
           dy = Array<T>::random(of.rows * of.n, of.shift),
           other = Array<T>::random(of.rows * of.n, of.shift);
  Array<W> weight = Array<W>::random(of.n, of.shift);
  Array<float> rstd = Array<float>(of.rows);

  explicit Given(Case of_in) : of(of_in) {
    for (size_t row = 0; row < of.rows; ++row) rstd.set(row, exact_rstd(x, row));
  }
  template <typename X>
  double exact_rstd(const X& of_x, size_t row) const {
    double sum = 0;
    for (size_t i = 0; i < of.n; ++i) sum += std::pow(of_x[row * of.n + i], 2);
    return 1.0 / std::sqrt(sum / static_cast<double>(of.n) + kEps);
  }
  auto rows() const { return static_cast<int64_t>(of.rows); }
  auto n() const { return static_cast<int64_t>(of.n); }
};

template <typename T, typename W>
void check_forward(const Given<T, W>& given, bool adds) {
  const Case of = given.of;
  const auto [y, rstd, sum] = in_any_order([&] {
    Array<T> result(given.x.size(), of.shift), total = given.x.copy(of.shift);
    Array<float> r(of.rows);
    if (adds) {
      cuda::add_rms_norm(kType<T>, kType<W>, given.x.data(), given.other.data(),
                         given.weight.data(), result.data(), r.data(), total.data(), given.rows(),
                         given.n(), kEps, nullptr);
    } else {
      cuda::rms_norm(kType<T>, kType<W>, given.x.data(), given.weight.data(), result.data(),
                     r.data(), given.rows(), given.n(), kEps, nullptr);
    }
    return std::tuple(std::move(result), std::move(r), std::move(total));
  });
  // A root halves the sum's; the mean, eps, the root's own two, two products.
  const double roundings = sum_roundings(of.n) / 2 + 6;
  Closeness close;
  for (size_t row = 0; row < of.rows; ++row) {
    const double r = given.exact_rstd(sum, row);
    close.see<float>(rstd[row], r, r, roundings);
    for (size_t i = row * of.n; i < (row + 1) * of.n; ++i) {
      if (adds) close.see<T>(sum[i], given.x[i] + given.other[i], std::abs(sum[i]), 1);
      const double want = sum[i] * r * given.weight[i % of.n];
      close.see<T>(y[i], want, std::abs(want), roundings);
    }
  }
  QVERIFY2(close.holds(), close.text());
}

template <typename T, typename W>
void check_backward(const Given<T, W>& given, bool adds) {
  const Case of = given.of;
  const auto blocks = static_cast<size_t>(cuda::norm_blocks(given.rows()));
  // In place of nothing, dy, x or other.
  const auto run = [&](int in_place) {
    Array<T> of_dx[] = {Array<T>(given.x.size(), of.shift), given.dy.copy(of.shift),
                        given.x.copy(of.shift), given.other.copy(of.shift)};
    Array<T>& dx = of_dx[in_place];
    Array<W> dweight(of.n, of.shift);
    Array<float> partial(blocks * of.n);
    if (adds) {
      cuda::rms_norm_backward_add(kType<T>, kType<W>, of_dx[1].data(), of_dx[2].data(),
                                  given.weight.data(), given.rstd.data(), of_dx[3].data(),
                                  dx.data(), dweight.data(), partial.data(), given.rows(),
                                  given.n(), nullptr);
    } else {
      cuda::rms_norm_backward(kType<T>, kType<W>, of_dx[1].data(), of_dx[2].data(),
                              given.weight.data(), given.rstd.data(), dx.data(), dweight.data(),
                              partial.data(), given.rows(), given.n(), nullptr);
    }
    return std::tuple(std::move(dx), std::move(dweight), std::move(partial));
  };
  const auto [dx, dweight, partial] = in_any_order([&] { return run(0); });
  Closeness close;
  std::vector<double> sums(of.n), sizes(of.n);
  for (size_t row = 0; row < of.rows; ++row) {
    const double r = given.rstd[row];
    double mean = 0, mean_size = 0;
    for (size_t j = 0; j < of.n; ++j) {
      const size_t i = row * of.n + j;
      const double term = given.weight[j] * given.dy[i] * given.x[i] / static_cast<double>(of.n);
      mean += term;
      mean_size += std::abs(term);
    }
    for (size_t j = 0; j < of.n; ++j) {
      const size_t i = row * of.n + j;
      const double term = given.dy[i] * given.x[i] * r;
      sums[j] += term;
      sizes[j] += std::abs(term);
      const double want = r * (given.weight[j] * given.dy[i] - given.x[i] * r * r * mean);
      const double size =
          r * (std::abs(given.weight[j] * given.dy[i]) + std::abs(given.x[i]) * r * r * mean_size);
      // The sum's; two products in it, four behind it, a difference, a product.
      const double roundings = sum_roundings(of.n) + 8;
      if (adds) {
        const double computed = roundings * kUnit<float> * size + kUnit<T> * std::abs(want);
        close.see_within(dx[i], given.other[i] + want,
                         computed + kUnit<T> * (std::abs(given.other[i] + want) + computed));
      } else {
        close.see<T>(dx[i], want, size, roundings);
      }
    }
  }
  // Two products; the rows of a block; the blocks of a group of 32, and the groups.
  const double roundings = 3 +
                           std::ceil(static_cast<double>(of.rows) / static_cast<double>(blocks)) +
                           std::ceil(static_cast<double>(blocks) / 32) + 32;
  for (size_t j = 0; j < of.n; ++j) close.see<W>(dweight[j], sums[j], sizes[j], roundings);
  QVERIFY2(close.holds(), close.text());
  for (int which = 1; which < (adds ? 4 : 3); ++which)
    QVERIFY2(std::get<0>(in_other_order([&] { return run(which); })).same_bits(dx),
             "in place it differs");
}

template <typename T, typename W>
void check_all(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    const Given<T, W> given(each);
    for (const bool adds : {false, true}) {
      check_forward(given, adds);
      check_backward(given, adds);
    }
  }
}

}  // namespace

class NormKernelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void fp32() { check_all<float, float>(few_rows); }
  void bf16() { check_all<Bf16, Bf16>(few_rows); }
  void bf16_with_weights_in_fp32() { check_all<Bf16, float>(few_rows); }
  void fp32_with_weights_in_bf16() { check_all<float, Bf16>(few_rows); }
  void many_rows_in_fp32() { check_all<float, float>(many_rows); }
  void many_rows_in_bf16() { check_all<Bf16, Bf16>(many_rows); }

  void the_gradient_of_no_rows_is_zero() {
    Array<float> dweight(5);
    cuda::rms_norm_backward(cuda::Type::fp32, cuda::Type::fp32, nullptr, nullptr, nullptr, nullptr,
                            nullptr, dweight.data(), nullptr, 0, 5, nullptr);
    for (size_t i = 0; i < 5; ++i) QCOMPARE(dweight[i], 0.0);
  }
};

HEDDLE_TEST(NormKernelsTest)
#include "norm_kernels_test.moc"
