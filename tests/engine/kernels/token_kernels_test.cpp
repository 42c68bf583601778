// The CUDA kernels in which a token needs no other one, as host code, against the formulas: RoPE,
// and two results of attention as one.
#include <QTest>

#include "tests/engine/kernels/host/check.h"
#include "tests/support/test_class.h"

using namespace heddle::emulator;
namespace cuda = heddle::kernels::cuda;

namespace {

// Several blocks a row, less than a warp, heads that packs cannot cut.
struct TokenCase {
  size_t tokens, heads, d, shift;
};
const std::vector<TokenCase> token_cases = {{3, 4, 64, 0}, {1, 1, 2, 0},    {5, 3, 6, 0},
                                            {7, 2, 20, 0}, {4, 40, 128, 0}, {4, 9, 128, 1},
                                            {33, 2, 8, 0}, {2, 5, 36, 0}};

Array<float> angles_of(size_t rows, size_t d) {
  Array<float> table(rows * d);
  for (size_t at = 0; at < rows; ++at)
    for (size_t j = 0; j < d / 2; ++j) {
      const double angle = static_cast<double>(at) *
                           std::pow(1e4, -2 * static_cast<double>(j) / static_cast<double>(d));
      table.set(at * d + j * 2, std::cos(angle));
      table.set(at * d + j * 2 + 1, std::sin(angle));
    }
  return table;
}

// A row of queries, keys and values gives the bits that `rope` gives of each, and back.
template <typename T>
void check_joined_rope() {
  constexpr size_t kRows = 50;
  struct TokenCase {
    size_t tokens, heads, kv_heads, d, shift;
  };
  for (const TokenCase of : {TokenCase{3, 4, 2, 64, 0},
                             {1, 1, 1, 2, 0},
                             {7, 2, 1, 20, 0},
                             {4, 9, 3, 128, 1},
                             {2, 40, 8, 128, 0}}) {
    const size_t width = (of.heads + 2 * of.kv_heads) * of.d;
    const auto rows = Array<T>::random(of.tokens * width, of.shift);
    const Array<float> table = angles_of(kRows, of.d);
    Array<int64_t> positions(of.tokens);
    for (size_t i = 0; i < of.tokens; ++i)
      positions.data()[i] = static_cast<int64_t>(i * 37 % kRows);
    const auto tokens = int64_t(of.tokens), heads = int64_t(of.heads),
               kv_heads = int64_t(of.kv_heads), d = int64_t(of.d);
    const size_t first[] = {0, of.heads * of.d, (of.heads + of.kv_heads) * of.d, width};
    std::vector<Array<T>> parts, turned;
    for (size_t part = 0; part < 3; ++part) {
      const size_t columns = first[part + 1] - first[part];
      Array<T> each(of.tokens * columns, of.shift), result(each.size(), of.shift);
      for (size_t i = 0; i < each.size(); ++i)
        each.set(i, rows[i / columns * width + first[part] + i % columns]);
      cuda::rope(kType<T>, each.data(), table.data(), positions.data(), result.data(), tokens,
                 int64_t(columns) / d, d, int64_t{kRows}, false, nullptr);
      turned.push_back(part == 2 ? each.copy(of.shift) : std::move(result));
      parts.push_back(std::move(each));
    }
    const auto [q, k, v] = in_any_order([&] {
      Array<T> a(parts[0].size(), of.shift), b(parts[1].size(), of.shift),
          c(parts[2].size(), of.shift);
      cuda::joined_rope(kType<T>, rows.data(), table.data(), positions.data(), a.data(), b.data(),
                        c.data(), tokens, heads, kv_heads, d, int64_t{kRows}, nullptr);
      return std::tuple(std::move(a), std::move(b), std::move(c));
    });
    QVERIFY(q.same_bits(turned[0]) && k.same_bits(turned[1]) && v.same_bits(turned[2]));

    const auto [gradient] = in_any_order([&] {
      Array<T> result(rows.size(), of.shift);
      cuda::joined_rope_backward(kType<T>, parts[0].data(), parts[1].data(), parts[2].data(),
                                 table.data(), positions.data(), result.data(), tokens, heads,
                                 kv_heads, d, int64_t{kRows}, nullptr);
      return std::tuple(std::move(result));
    });
    for (size_t part = 0; part < 3; ++part) {
      const size_t columns = first[part + 1] - first[part];
      Array<T> back(parts[part].size(), of.shift);
      cuda::rope(kType<T>, parts[part].data(), table.data(), positions.data(), back.data(), tokens,
                 int64_t(columns) / d, d, int64_t{kRows}, true, nullptr);
      const Array<T>& expected = part == 2 ? parts[2] : back;
      for (size_t i = 0; i < expected.size(); ++i)
        QCOMPARE(gradient[i / columns * width + first[part] + i % columns], expected[i]);
    }
  }
}

template <typename T>
void check_rope() {
  constexpr size_t kRows = 50;
  for (const TokenCase of : token_cases) {
    const size_t row = of.heads * of.d;
    const auto x = Array<T>::random(of.tokens * row, of.shift);
    const Array<float> table = angles_of(kRows, of.d);
    Array<int64_t> positions(of.tokens);
    for (size_t i = 0; i < of.tokens; ++i)
      positions.data()[i] = static_cast<int64_t>(i * 37 % kRows);
    const auto run = [&](const T* from, T* to, bool inverse) {
      cuda::rope(kType<T>, from, table.data(), positions.data(), to, int64_t(of.tokens),
                 int64_t(of.heads), int64_t(of.d), int64_t{kRows}, inverse, nullptr);
    };
    for (const bool inverse : {false, true}) {
      const auto [y] = in_any_order([&] {
        Array<T> result(x.size(), of.shift);
        run(x.data(), result.data(), inverse);
        return std::tuple(std::move(result));
      });
      Closeness close;
      for (size_t i = 0; i < x.size(); i += 2) {
        const auto at = static_cast<size_t>(positions.data()[i / row]);
        const size_t angle = at * of.d + i % of.d;
        const double c = table[angle], s = table[angle + 1] * (inverse ? -1 : 1);
        close.see<T>(y[i], x[i] * c - x[i + 1] * s, std::abs(x[i] * c) + std::abs(x[i + 1] * s), 3);
        close.see<T>(y[i + 1], x[i + 1] * c + x[i] * s, std::abs(x[i + 1] * c) + std::abs(x[i] * s),
                     3);
      }
      QVERIFY2(close.holds(), close.text());
      auto same = x.copy(of.shift);
      run(same.data(), same.data(), inverse);
      QVERIFY2(same.same_bits(y), "in place it differs");
    }
  }
}

template <typename T>
void check_merge() {
  for (const TokenCase of : token_cases) {
    // Two sequences where that is possible.
    const size_t sequences = of.tokens % 2 == 0 ? 2 : 1, s = of.tokens / sequences;
    const size_t row = of.heads * of.d, n = of.tokens * row;
    const auto a = Array<T>::random(n, of.shift), b = Array<T>::random(n, of.shift);
    auto lse_a = Array<float>::random(of.tokens * of.heads, 0, 5.0),
         lse_b = Array<float>::random(of.tokens * of.heads, 0, 5.0);
    // One part saw nothing, the other, both; one outweighs the other.
    if (lse_a.size() > 6) {
      lse_a.set(0, -INFINITY);
      lse_b.set(1, -INFINITY);
      lse_a.set(2, -INFINITY);
      lse_b.set(2, -INFINITY);
      lse_a.set(3, 300);
      lse_b.set(4, 300);
    }
    const auto run = [&](const T* left, const T* right, T* to, float* to_lse) {
      cuda::merge_attention(kType<T>, left, lse_a.data(), right, lse_b.data(), to, to_lse,
                            int64_t(of.tokens), int64_t(s), int64_t(of.heads), int64_t(of.d),
                            nullptr);
    };
    const auto [out, lse] = in_any_order([&] {
      Array<T> result(n, of.shift);
      Array<float> sum(lse_a.size());
      run(a.data(), b.data(), result.data(), sum.data());
      return std::tuple(std::move(result), std::move(sum));
    });
    Closeness close;
    for (size_t i = 0; i < n; ++i) {
      const size_t token = i / row, head = i % row / of.d;
      const size_t at = (token / s * of.heads + head) * s + token % s;
      const double left = lse_a[at], right = lse_b[at], top = std::max(left, right);
      const double whole =
          std::isinf(top) ? top : top + std::log(std::exp(left - top) + std::exp(right - top));
      close.see<float>(lse[at], whole, 1 + std::abs(whole), 6);
      const auto share = [&](double part) { return std::isinf(part) ? 0 : std::exp(part - whole); };
      const double x = share(left) * a[i], y = share(right) * b[i];
      // An exponent is off by as many roundings as it and the sum are large.
      const auto roundings = [&](double part) {
        return std::isinf(part) ? 0 : std::abs(part - whole) + std::abs(whole) + 12;
      };
      const double worst = std::max(roundings(left), roundings(right));
      close.see<T>(out[i], x + y, std::abs(x) + std::abs(y), worst);
    }
    QVERIFY2(close.holds(), close.text());
    for (const bool in_a : {true, false}) {
      auto same = (in_a ? a : b).copy(of.shift);
      Array<float> sum(lse_a.size());
      run(in_a ? same.data() : a.data(), in_a ? b.data() : same.data(), same.data(), sum.data());
      QVERIFY2(same.same_bits(out), "in place it differs");
    }
  }
}

}  // namespace

class TokenKernelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rope_in_fp32() { check_rope<float>(); }
  void rope_in_bf16() { check_rope<Bf16>(); }
  void joined_rope_in_fp32() { check_joined_rope<float>(); }
  void joined_rope_in_bf16() { check_joined_rope<Bf16>(); }

  void a_position_outside_the_table_stops_the_run() {
    const auto x = Array<float>::random(8), table = Array<float>::random(8);
    for (const int64_t position : {-1, 2}) {
      Array<float> y(8);
      QVERIFY_EXCEPTION_THROWN(cuda::rope(cuda::Type::fp32, x.data(), table.data(), &position,
                                          y.data(), 1, 2, 4, 2, false, nullptr),
                               std::runtime_error);
    }
  }

  void merge_in_fp32() { check_merge<float>(); }
  void merge_in_bf16() { check_merge<Bf16>(); }
};

HEDDLE_TEST(TokenKernelsTest)
#include "token_kernels_test.moc"
