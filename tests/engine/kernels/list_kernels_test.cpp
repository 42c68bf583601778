// The CUDA kernels that take lists of tensors, as host code, against the formulas: casts, norms of
// gradients, AdamW, SGD.
#include <QTest>

#include "tests/engine/kernels/host/check.h"
#include "tests/support/test_class.h"

using namespace heddle::emulator;
namespace cuda = heddle::kernels::cuda;

namespace {

constexpr size_t kChunk = cuda::kListChunk;

// Sizes of a list's tensors: empty ones, odd ones, a chunk, one element more, several; then as many
// as a launch takes.
const std::vector<std::vector<size_t>> lists = {
    {5},
    {0, 1, 7, 0, kChunk, kChunk + 1, 2 * kChunk + 4099, 8},
    std::vector<size_t>(cuda::kListed, 33),
};

cuda::ListBlocks blocks_of(const std::vector<size_t>& sizes) {
  cuda::ListBlocks blocks{.chunk = cuda::kListChunk};
  for (const size_t size : sizes) blocks.add(static_cast<int64_t>(size));
  return blocks;
}

// The tensors of a list; every other one begins where packs cannot.
template <typename T>
struct List {
  std::vector<Array<T>> tensors;

  template <typename Make>
  static List of(const std::vector<size_t>& sizes, Make&& make) {
    List list;
    for (size_t i = 0; i < sizes.size(); ++i) list.tensors.push_back(make(i, sizes[i], i % 2));
    return list;
  }
  static List random(const std::vector<size_t>& sizes, double scale = 1.0) {
    return of(sizes,
              [&](size_t, size_t n, size_t shift) { return Array<T>::random(n, shift, scale); });
  }
  List copy() const {
    List list;
    for (size_t i = 0; i < tensors.size(); ++i) list.tensors.push_back(tensors[i].copy(i % 2));
    return list;
  }
  cuda::Inputs inputs() const {
    cuda::Inputs inputs{};
    for (size_t i = 0; i < tensors.size(); ++i) inputs.of[i] = tensors[i].data();
    return inputs;
  }
  bool same_bits(const List& other) const {
    return std::equal(tensors.begin(), tensors.end(), other.tensors.begin(), other.tensors.end(),
                      [](const Array<T>& a, const Array<T>& b) { return a.same_bits(b); });
  }
  bool intact() const {
    return std::all_of(tensors.begin(), tensors.end(),
                       [](const auto& each) { return each.intact(); });
  }
};

template <typename From, typename To>
void check_cast() {
  for (const auto& sizes : lists) {
    auto from = List<From>::random(sizes);
    // Halfway between two numbers of bf16 on both sides, the largest of fp32, none.
    const double special[] = {1 + 0x1p-8, 1 + 0x3p-8, 0x1.fffffep127, -INFINITY, NAN};
    for (size_t i = 0; i < std::size(special); ++i)
      if (from.tensors.back().size() > i) from.tensors.back().set(i, special[i]);
    const auto [to] = in_any_order([&] {
      auto list =
          List<To>::of(sizes, [](size_t, size_t n, size_t shift) { return Array<To>(n, shift); });
      cuda::Outputs outputs{};
      for (size_t i = 0; i < sizes.size(); ++i) outputs.of[i] = list.tensors[i].data();
      cuda::cast_list(kType<From>, blocks_of(sizes), from.inputs(), outputs, nullptr);
      return std::tuple(std::move(list));
    });
    for (size_t i = 0; i < sizes.size(); ++i)
      for (size_t j = 0; j < sizes[i]; ++j) {
        const double want = as_double(rounded<To>(from.tensors[i][j])), got = to.tensors[i][j];
        QVERIFY(got == want || (std::isnan(got) && std::isnan(want)));
      }
  }
}

template <typename T>
void check_norms(double scale) {
  for (const auto& sizes : lists) {
    const auto given = List<T>::random(sizes, scale);
    const auto blocks = blocks_of(sizes);
    const auto [squares, total] = in_any_order([&] {
      Array<double> partial(static_cast<size_t>(blocks.blocks())), sums(sizes.size()), all(1);
      cuda::Results results{};
      cuda::Inputs each{};
      for (size_t i = 0; i < sizes.size(); ++i) each.of[i] = results.of[i] = sums.data() + i;
      cuda::squared_norms(kType<T>, blocks, given.inputs(), results, partial.data(), nullptr);
      const auto count = static_cast<int>(sizes.size());
      cuda::total_norm(each, count, all.data(), false, nullptr);
      cuda::total_norm(each, count, all.data(), true, nullptr);
      return std::tuple(std::move(sums), std::move(all));
    });
    double sum = 0;
    Closeness close;
    for (size_t i = 0; i < sizes.size(); ++i) {
      double want = 0;
      for (size_t j = 0; j < sizes[i]; ++j) want += given.tensors[i][j] * given.tensors[i][j];
      close.see_within(squares[i], want, want * 1e-12);
      sum += want;
    }
    close.see_within(total[0], 2 * sum, sum * 1e-12);
    QVERIFY2(close.holds(), close.text());
  }
}

struct Rates {
  int64_t step;
  double lr, beta1, beta2, eps, weight_decay;
  float factor;
};

void check_adamw(const Rates& rates, const std::vector<size_t>& sizes) {
  const auto p = List<float>::random(sizes), m = List<float>::random(sizes, 0.1),
             g = List<float>::random(sizes);
  const auto v = List<float>::of(sizes, [](size_t, size_t n, size_t shift) {
    auto array = Array<float>::random(n, shift, 0.1);
    for (size_t i = 0; i < n; ++i) array.set(i, array[i] * array[i]);
    return array;
  });
  const auto [p_after, m_after, v_after] = in_any_order([&] {
    std::tuple after(p.copy(), m.copy(), v.copy());
    cuda::UpdateInputs inputs{};
    for (size_t i = 0; i < sizes.size(); ++i) {
      inputs.parameter[i] = std::get<0>(after).tensors[i].data();
      inputs.state[0][i] = std::get<1>(after).tensors[i].data();
      inputs.state[1][i] = std::get<2>(after).tensors[i].data();
      inputs.grad[i] = g.tensors[i].data();
    }
    cuda::adamw(blocks_of(sizes), inputs,
                {&rates.lr,
                 &rates.step,
                 &rates.factor,
                 {rates.beta1, rates.beta2, rates.eps, rates.weight_decay}},
                nullptr);
    return after;
  });
  // The moments take β in fp32, as on CPUs.
  const double beta1 = static_cast<float>(rates.beta1), beta2 = static_cast<float>(rates.beta2);
  const auto step = static_cast<double>(rates.step);
  const double correction1 = 1 - std::pow(rates.beta1, step),
               correction2 = std::sqrt(1 - std::pow(rates.beta2, step));
  Closeness close;
  for (size_t i = 0; i < sizes.size(); ++i)
    for (size_t j = 0; j < sizes[i]; ++j) {
      const double grad = g.tensors[i][j] * rates.factor, m0 = m.tensors[i][j],
                   v0 = v.tensors[i][j], p0 = p.tensors[i][j];
      const double m1 = m0 + (grad - m0) * (1 - beta1), v1 = beta2 * v0 + (1 - beta2) * grad * grad;
      const double m_size = std::abs(m0) + (std::abs(grad) + std::abs(m0)) * (1 - beta1);
      close.see<float>(m_after.tensors[i][j], m1, m_size, 5);
      close.see<float>(v_after.tensors[i][j], v1, v1, 6);
      const double down = std::sqrt(v1) / correction2 + rates.eps;
      const double decay = rates.lr * rates.weight_decay;
      close.see<float>(p_after.tensors[i][j], p0 * (1 - decay) - rates.lr / correction1 * m1 / down,
                       std::abs(p0) * (1 + decay) + rates.lr / correction1 * m_size / down, 24);
    }
  QVERIFY2(close.holds(), close.text());
}

void check_sgd(bool nesterov, const std::vector<size_t>& sizes) {
  const double lr = 0.1, momentum = 0.9f, decay = 0.01f;
  const int64_t step = 7;
  const float factor = 0.25F;
  const auto p = List<float>::random(sizes), m = List<float>::random(sizes, 0.1),
             g = List<float>::random(sizes);
  const auto [p_after, m_after] = in_any_order([&] {
    std::tuple after(p.copy(), m.copy());
    cuda::UpdateInputs inputs{};
    for (size_t i = 0; i < sizes.size(); ++i) {
      inputs.parameter[i] = std::get<0>(after).tensors[i].data();
      inputs.state[0][i] = std::get<1>(after).tensors[i].data();
      inputs.grad[i] = g.tensors[i].data();
    }
    cuda::sgd(blocks_of(sizes), inputs,
              {&lr, &step, &factor, {momentum, nesterov ? 1.0 : 0.0, decay}}, nullptr);
    return after;
  });
  Closeness close;
  for (size_t i = 0; i < sizes.size(); ++i)
    for (size_t j = 0; j < sizes[i]; ++j) {
      const double p0 = p.tensors[i][j], m0 = m.tensors[i][j];
      const double grad = g.tensors[i][j] * factor + decay * p0, m1 = momentum * m0 + grad;
      const double g_size = std::abs(g.tensors[i][j] * factor) + std::abs(decay * p0),
                   m_size = std::abs(momentum * m0) + g_size;
      const double way = nesterov ? momentum * m1 + grad : m1;
      const double way_size = nesterov ? m_size + g_size : m_size;
      close.see<float>(m_after.tensors[i][j], m1, m_size, 6);
      close.see<float>(p_after.tensors[i][j], p0 - lr * way, std::abs(p0) + lr * way_size, 12);
    }
  QVERIFY2(close.holds(), close.text());
}

}  // namespace

class ListKernelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void cast_to_bf16() { check_cast<float, Bf16>(); }
  void cast_to_fp32() { check_cast<Bf16, float>(); }

  void norms_of_fp32() { check_norms<float>(1.0); }
  void norms_of_bf16() { check_norms<Bf16>(1.0); }
  void squares_beyond_fp32() { check_norms<float>(1e30); }

  void factor_data() {
    QTest::addColumn<double>("norm");
    QTest::addColumn<double>("max_norm");
    QTest::addColumn<double>("factor");
    QTest::newRow("below") << 0.5 << 1.0 << 1.0;
    QTest::newRow("above") << 4.0 << 1.0 << 1 / (4 + 1e-6);
    QTest::newRow("no limit") << 4.0 << 0.0 << 1.0;
    QTest::newRow("zero") << 0.0 << 1.0 << 1.0;
    QTest::newRow("infinite") << double(INFINITY) << 1.0 << 0.0;
    QTest::newRow("none, no limit") << double(NAN) << 0.0 << 0.0;
  }
  void factor() {
    QFETCH(double, norm);
    QFETCH(double, max_norm);
    QFETCH(double, factor);
    float got = NAN;
    cuda::clip_factor(&norm, max_norm, &got, nullptr);
    QCOMPARE(got, static_cast<float>(factor));
  }

  void adamw_data() {
    QTest::addColumn<int64_t>("step");
    QTest::addColumn<double>("beta2");
    QTest::addColumn<float>("factor");
    QTest::newRow("first step") << int64_t{1} << 0.999 << 1.0F;
    QTest::newRow("second") << int64_t{2} << 0.95 << 0.25F;
    QTest::newRow("thousandth") << int64_t{1000} << 0.999 << 1.0F;
    QTest::newRow("millionth") << int64_t{1000000} << 0.99999 << 0.01F;
  }
  void adamw() {
    QFETCH(int64_t, step);
    QFETCH(double, beta2);
    QFETCH(float, factor);
    for (const auto& sizes : lists) check_adamw({step, 3e-4, 0.9, beta2, 1e-8, 0.1, factor}, sizes);
  }

  void sgd_data() {
    QTest::addColumn<bool>("nesterov");
    QTest::newRow("momentum") << false;
    QTest::newRow("nesterov") << true;
  }
  void sgd() {
    QFETCH(bool, nesterov);
    for (const auto& sizes : lists) check_sgd(nesterov, sizes);
  }

  void a_factor_of_zero_changes_nothing() {
    const std::vector<size_t> sizes = {100};
    const auto given = List<float>::random(sizes);
    auto p = given.copy(), m = given.copy(), v = given.copy();
    auto g = Array<float>::of(std::vector<double>(100, NAN));
    cuda::UpdateInputs inputs{};
    inputs.parameter[0] = p.tensors[0].data();
    inputs.state[0][0] = m.tensors[0].data();
    inputs.state[1][0] = v.tensors[0].data();
    inputs.grad[0] = g.data();
    const double lr = 1;
    const int64_t step = 1;
    const float factor = 0;
    cuda::adamw(blocks_of(sizes), inputs, {&lr, &step, &factor, {0.9, 0.95, 1e-8, 0.1}}, nullptr);
    QVERIFY(p.same_bits(given) && m.same_bits(given) && v.same_bits(given));
  }

  void empty_lists_launch_nothing() {
    const auto blocks = blocks_of({0, 0});
    const auto launches = launches_of([&] {
      cuda::cast_list(cuda::Type::fp32, blocks, {}, {}, nullptr);
      cuda::adamw(blocks, {}, {nullptr, nullptr, nullptr, {0.9, 0.95, 1e-8, 0.1}}, nullptr);
      cuda::squared_norms(cuda::Type::fp32, {}, {}, {}, nullptr, nullptr);
    });
    QVERIFY(launches.empty());
  }
};

HEDDLE_TEST(ListKernelsTest)
#include "list_kernels_test.moc"
