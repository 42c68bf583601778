// The CUDA kernels that convert matrices to 8 bits, as host code, against the definition of those
// numbers.
#include <QTest>

#include "tests/engine/kernels/host/check.h"
#include "tests/support/test_class.h"

using namespace heddle::emulator;
namespace cuda = heddle::kernels::cuda;

namespace {

// Fraction, bias of the exponents, the largest.
struct Format {
  cuda::Float8 format;
  int fraction, bias;
  double largest;
};
const std::vector<Format> formats = {{cuda::Float8::e4m3, 3, 7, 448},
                                     {cuda::Float8::e5m2, 2, 15, 57344}};

double decoded(uint8_t bits, const Format& of) {
  const int size = bits & 0x7F, exponent = size >> of.fraction;
  const int fraction = size & ((1 << of.fraction) - 1);
  const double number =
      exponent == 0 ? std::ldexp(fraction, 1 - of.bias - of.fraction)
                    : std::ldexp((1 << of.fraction) + fraction, exponent - of.bias - of.fraction);
  return bits & 0x80 ? -number : number;
}

// Whether no other number is nearer, and of two as near it is the even one.
bool is_nearest(uint8_t bits, double x, const Format& of) {
  if (std::isnan(x)) return (bits & 0x7F) == 0x7F;
  const double off = std::abs(decoded(bits, of) - x);
  for (int other = 0; other < 256; ++other) {
    const double number = decoded(static_cast<uint8_t>(other), of);
    if (std::abs(number) > of.largest) continue;
    const double other_off = std::abs(number - x);
    if (other_off < off || (other_off == off && number != decoded(bits, of) && bits % 2 != 0))
      return false;
  }
  return true;
}

// Less than a block, a square of 64, what packs cannot cut, several parts of rows and of numbers.
struct Float8Case {
  size_t rows, n, shift;
};
const std::vector<Float8Case> float8_cases = {{1, 1, 0},    {3, 64, 0},   {5, 7, 1},
                                              {64, 64, 0},  {65, 130, 0}, {300, 9, 0},
                                              {700, 80, 0}, {2, 2056, 1}};

float scale_of(double most, const Format& of, bool power_of_two) {
  const auto scale = static_cast<float>(of.largest / (most < 1e-12 ? 1e-12 : most));
  return power_of_two ? std::exp2(std::floor(std::log2(scale))) : scale;
}

// Element (r, c) of the result.
double given(const Array<Bf16>& x, const Float8Case& of, bool transposed, size_t r, size_t c) {
  return transposed ? x[c * of.n + r] : x[r * of.n + c];
}

void check(const Array<Bf16>& x, const Float8Case& of, const Format& format, bool by_row,
           bool transposed) {
  const size_t rows = transposed ? of.n : of.rows, columns = transposed ? of.rows : of.n;
  const auto [values, inverse] = in_any_order([&] {
    Array<uint8_t> made(rows * columns);
    Array<float> scales(by_row ? rows : 1);
    const int64_t count = cuda::float8_parts(int64_t(of.rows), int64_t(of.n), by_row, transposed);
    Array<unsigned> parts(static_cast<size_t>(count));
    cuda::float8_quantize(format.format, x.data(), made.data(), scales.data(), parts.data(),
                          int64_t(of.rows), int64_t(of.n), by_row, transposed, nullptr);
    if (!parts.intact()) throw std::runtime_error("memory around the parts was written");
    return std::tuple(std::move(made), std::move(scales));
  });
  double of_all = 0;
  for (size_t i = 0; i < x.size(); ++i) of_all = std::max(of_all, std::abs(x[i]));
  for (size_t r = 0; r < rows; ++r) {
    double most = 0;
    for (size_t c = 0; c < columns; ++c)
      most = std::max(most, std::abs(given(x, of, transposed, r, c)));
    const float scale = scale_of(by_row ? most : of_all, format, by_row);
    QCOMPARE(inverse.data()[by_row ? r : 0], 1.0F / scale);
    for (size_t c = 0; c < columns; ++c) {
      const auto number = static_cast<float>(given(x, of, transposed, r, c)) * scale;
      QVERIFY(is_nearest(values.data()[r * columns + c], number, format));
    }
  }
}

}  // namespace

class Float8KernelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void converted_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<bool>("by_row");
    QTest::addColumn<bool>("transposed");
    for (const int format : {0, 1})
      for (const bool by_row : {false, true})
        for (const bool transposed : {false, true})
          QTest::addRow("%s, a scale a %s%s", format == 0 ? "e4m3" : "e5m2",
                        by_row ? "row" : "tensor", transposed ? ", transposed" : "")
              << format << by_row << transposed;
  }
  void converted() {
    QFETCH(int, format);
    QFETCH(bool, by_row);
    QFETCH(bool, transposed);
    for (const Float8Case& of : float8_cases) {
      auto x = Array<Bf16>::random(of.rows * of.n, of.shift);
      // Numbers of all sizes, zeros.
      for (size_t i = 0; i < x.size(); ++i)
        x.set(i, i % 7 == 0 ? 0 : x[i] * std::ldexp(1.0, static_cast<int>(i % 31) - 20));
      check(x, of, formats[static_cast<size_t>(format)], by_row, transposed);
    }
  }

  // Shards give the same bits as the whole in bf16: float8_cases are shards.
  void shards_are_converted() {
    for (const Float8Case& of : float8_cases) {
      const auto x = Array<float>::random(of.rows * of.n, of.shift);
      double most = 0;
      for (size_t i = 0; i < x.size(); ++i)
        most = std::max(most, std::abs(double(__bfloat162float(__float2bfloat16_rn(x.data()[i])))));
      const auto n = static_cast<int64_t>(x.size());
      const auto [values, inverse, turned] = in_any_order([&] {
        cuda::ListBlocks blocks{.chunk = 1024};
        blocks.add(n);
        blocks.add(0);
        cuda::Inputs inputs{};
        inputs.of[0] = x.data();
        Array<unsigned> parts(static_cast<size_t>(blocks.blocks()));
        Array<float> largest(2), scale(1);
        Array<uint8_t> made(x.size()), other(x.size());
        cuda::float8_largest(blocks, inputs, parts.data(), largest.data(), nullptr);
        if (largest.data()[0] != float(most) || largest.data()[1] != 0)
          throw std::runtime_error("that is not the largest");
        cuda::float8_cast(x.data(), largest.data(), made.data(), scale.data(), n, nullptr);
        cuda::float8_transpose(made.data(), other.data(), int64_t(of.rows), int64_t(of.n), nullptr);
        if (!parts.intact()) throw std::runtime_error("memory around the parts was written");
        return std::tuple(std::move(made), std::move(scale), std::move(other));
      });
      const float scale = scale_of(most, formats[0], false);
      QCOMPARE(inverse.data()[0], 1.0F / scale);
      for (size_t r = 0; r < of.rows; ++r)
        for (size_t c = 0; c < of.n; ++c) {
          const size_t i = r * of.n + c;
          const float number = __bfloat162float(__float2bfloat16_rn(x.data()[i])) * scale;
          QVERIFY(is_nearest(values.data()[i], number, formats[0]));
          QCOMPARE(turned.data()[c * of.rows + r], values.data()[i]);
        }
    }
  }

  void what_is_no_number_makes_none_of_what_shares_its_scale() {
    const Float8Case of{4, 32, 0};
    for (const double special : {static_cast<double>(NAN), static_cast<double>(INFINITY)})
      for (const bool by_row : {false, true}) {
        auto x = Array<Bf16>::random(of.rows * of.n);
        x.set(40, special);
        Array<uint8_t> values(x.size());
        Array<float> inverse(by_row ? of.rows : 1);
        Array<unsigned> parts(1);
        cuda::float8_quantize(cuda::Float8::e4m3, x.data(), values.data(), inverse.data(),
                              parts.data(), 4, 32, by_row, false, nullptr);
        QVERIFY(!std::isfinite(inverse[by_row ? 1 : 0]));
        if (by_row) QVERIFY(std::isfinite(inverse[0]));
      }
  }
};

HEDDLE_TEST(Float8KernelsTest)
#include "float8_kernels_test.moc"
