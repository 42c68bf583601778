// The CUDA kernels in which an element needs no other one, as host code, against the formulas.
#include <QTest>

#include "engine/cuda/count.h"
#include "tests/engine/kernels/host/check.h"
#include "tests/support/test_class.h"

using namespace heddle::emulator;
namespace cuda = heddle::kernels::cuda;

namespace {

struct ElementwiseCase {
  size_t n, shift, result_shift;
};

// Less than a pack, whole packs, some left over, more than a block; addresses that packs cannot
// have, of all arrays or of some.
const std::vector<ElementwiseCase> elementwise_cases = {
    {1, 0, 0},    {7, 0, 0},    {8, 0, 0},    {2048, 0, 0}, {2056, 0, 0},
    {2049, 0, 0}, {4096, 1, 1}, {4096, 0, 1}, {4096, 4, 0}, {70000, 0, 0}};

template <typename T>
Array<T> wide(size_t n, size_t shift) {
  auto array = Array<T>::random(n, shift, 5.0);
  // Where e^x is no number of fp32, or nothing beside 1.
  const double extreme[] = {120, -120, 90, -90, 20, -20, 0};
  for (size_t i = 0; i < n && i < std::size(extreme); ++i)
    if (n > 1) array.set(n - 1 - i, extreme[i]);
  return array;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

template <typename T>
void check_swiglu() {
  for (const ElementwiseCase of : elementwise_cases) {
    const auto gate = wide<T>(of.n, of.shift);
    const auto up = Array<T>::random(of.n, of.shift), dout = Array<T>::random(of.n, of.shift);
    const auto n = static_cast<int64_t>(of.n);
    const auto [out, dgate, dup] = in_any_order([&] {
      Array<T> y(of.n, of.result_shift), dg(of.n, of.result_shift), du(of.n, of.result_shift);
      cuda::swiglu(kType<T>, gate.data(), up.data(), y.data(), n, nullptr);
      cuda::swiglu_backward(kType<T>, dout.data(), gate.data(), up.data(), dg.data(), du.data(), n,
                            nullptr);
      return std::tuple(std::move(y), std::move(dg), std::move(du));
    });
    Closeness close;
    for (size_t i = 0; i < of.n; ++i) {
      const double g = gate[i], u = up[i], d = dout[i], s = sigmoid(g);
      // s has five: the exponential two, a sum, a division that has two of these below it. Where
      // e^-g is no number of fp32, s is 0.
      const double lost = std::abs(g) * 0x1p-126 / kUnit<float>;
      close.see<T>(out[i], g * s * u, std::abs(u) * (std::abs(g) * s + lost), 7);
      close.see<T>(dup[i], d * g * s, std::abs(d) * (std::abs(g) * s + lost), 7);
      close.see<T>(dgate[i], d * u * s * (1 + g * (1 - s)),
                   std::abs(d * u) * (s * (1 + std::abs(g)) + lost), 14);
    }
    QVERIFY2(close.holds(), close.text());

    auto same_dout = dout.copy(of.shift), same_gate = gate.copy(of.shift);
    cuda::swiglu_backward(kType<T>, same_dout.data(), same_gate.data(), up.data(), same_dout.data(),
                          same_gate.data(), n, nullptr);
    QVERIFY2(same_dout.same_bits(dgate) && same_gate.same_bits(dup), "in place it differs");
  }
}

// Rows of gate and up give the bits that both give apart.
template <typename T>
void check_joined_swiglu() {
  struct ElementwiseCase {
    size_t rows, width, shift;
  };
  for (const ElementwiseCase of :
       {ElementwiseCase{1, 1, 0}, {5, 7, 0}, {3, 64, 0}, {2, 64, 1}, {3, 2056, 0}}) {
    const size_t n = of.rows * of.width;
    const auto rows = wide<T>(2 * n, of.shift);
    const auto dout = Array<T>::random(n, of.shift);
    Array<T> gate(n, 0), up(n, 0), out(n, 0), dgate(n, 0), dup(n, 0);
    for (size_t i = 0; i < n; ++i) {
      const size_t at = i / of.width * 2 * of.width + i % of.width;
      gate.set(i, rows[at]);
      up.set(i, rows[at + of.width]);
    }
    cuda::swiglu(kType<T>, gate.data(), up.data(), out.data(), int64_t(n), nullptr);
    cuda::swiglu_backward(kType<T>, dout.data(), gate.data(), up.data(), dgate.data(), dup.data(),
                          int64_t(n), nullptr);
    const auto [y, drows] = in_any_order([&] {
      Array<T> result(n, of.shift), gradient(2 * n, of.shift);
      cuda::joined_swiglu(kType<T>, rows.data(), result.data(), int64_t(of.rows), int64_t(of.width),
                          nullptr);
      cuda::joined_swiglu_backward(kType<T>, dout.data(), rows.data(), gradient.data(),
                                   int64_t(of.rows), int64_t(of.width), nullptr);
      return std::tuple(std::move(result), std::move(gradient));
    });
    QVERIFY(y.same_bits(out));
    for (size_t i = 0; i < n; ++i) {
      const size_t at = i / of.width * 2 * of.width + i % of.width;
      QCOMPARE(drows[at], dgate[i]);
      QCOMPARE(drows[at + of.width], dup[i]);
    }
    auto same = rows.copy(of.shift);
    cuda::joined_swiglu_backward(kType<T>, dout.data(), same.data(), same.data(), int64_t(of.rows),
                                 int64_t(of.width), nullptr);
    QVERIFY2(same.same_bits(drows), "in place it differs");
  }
}

template <typename T>
void check_accumulate() {
  for (const ElementwiseCase of : elementwise_cases) {
    const auto value = Array<T>::random(of.n, of.shift);
    const auto before = Array<float>::random(of.n);
    const auto [sum] = in_any_order([&] {
      auto array = before.copy(of.result_shift);
      cuda::accumulate(kType<T>, array.data(), value.data(), static_cast<int64_t>(of.n), nullptr);
      return std::tuple(std::move(array));
    });
    for (size_t i = 0; i < of.n; ++i) QCOMPARE(sum[i], double(float(before[i] + value[i])));
  }
}

}  // namespace

class ElementwiseKernelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void swiglu_in_fp32() { check_swiglu<float>(); }
  void swiglu_in_bf16() { check_swiglu<Bf16>(); }
  void joined_swiglu_in_fp32() { check_joined_swiglu<float>(); }
  void joined_swiglu_in_bf16() { check_joined_swiglu<Bf16>(); }
  void accumulate_of_fp32() { check_accumulate<float>(); }
  void accumulate_of_bf16() { check_accumulate<Bf16>(); }

  void none_of_them_is_launched_for_nothing() {
    const auto launches = launches_of([] {
      cuda::swiglu(cuda::Type::fp32, nullptr, nullptr, nullptr, 0, nullptr);
      cuda::swiglu_backward(cuda::Type::bf16, nullptr, nullptr, nullptr, nullptr, nullptr, 0,
                            nullptr);
      cuda::joined_swiglu(cuda::Type::fp32, nullptr, nullptr, 0, 8, nullptr);
      cuda::joined_swiglu_backward(cuda::Type::bf16, nullptr, nullptr, nullptr, 8, 0, nullptr);
      cuda::accumulate(cuda::Type::fp32, nullptr, nullptr, 0, nullptr);
    });
    QVERIFY(launches.empty());
  }

  void a_stream_counts_up() {
    unsigned long long number = 41;
    heddle::cuda::count_up(&number, nullptr);
    QCOMPARE(number, 42ULL);
  }
};

HEDDLE_TEST(ElementwiseKernelsTest)
#include "elementwise_kernels_test.moc"
