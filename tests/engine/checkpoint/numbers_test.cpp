// Conversions to fp32 against the types' definitions.
#include "engine/checkpoint/numbers.h"

#include <QtTest>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/test_class.h"

using namespace heddle::checkpoint;

namespace {

template <typename Stored>
float converted(Dtype dtype, Stored stored) {
  float out = 0;
  to_floats(dtype, std::as_bytes(std::span(&stored, 1)), &out);
  return out;
}

}  // namespace

class NumbersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void half_precision_by_its_definition() {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const float value = converted(Dtype::f16, static_cast<uint16_t>(bits));
      const int exponent = static_cast<int>(bits >> 10 & 0x1F);
      const int fraction = static_cast<int>(bits & 0x3FF);
      if (exponent == 0x1F && fraction != 0) {
        QVERIFY(std::isnan(value));
        continue;
      }
      double expected =
          exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      if (exponent == 0x1F) expected = std::numeric_limits<double>::infinity();
      if (bits >> 15 != 0) expected = -expected;
      QVERIFY2(value == expected && std::signbit(value) == std::signbit(expected),
               std::to_string(bits).c_str());
    }
  }

  void bfloat_is_the_upper_half_of_a_float() {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const float value = converted(Dtype::bf16, static_cast<uint16_t>(bits));
      QCOMPARE(std::bit_cast<uint32_t>(value), bits << 16);
    }
  }

  void floats_as_they_are() {
    for (const float value : {0.0F, -0.0F, 1.5F, 3.4e38F, 1e-45F})
      QVERIFY(std::bit_cast<uint32_t>(converted(Dtype::f32, value)) ==
              std::bit_cast<uint32_t>(value));
    QCOMPARE(converted(Dtype::f64, 0.1), 0.1F);
  }

  void bytes_need_no_alignment() {
    std::array<std::byte, 9> bytes{};
    const std::array<float, 2> values = {1.25F, -7.0F};
    std::memcpy(bytes.data() + 1, values.data(), sizeof(values));
    std::array<float, 2> out{};
    to_floats(Dtype::f32, std::span(bytes).subspan(1), out.data());
    QCOMPARE(out, values);
  }

  void only_floating_point() {
    QVERIFY(is_floating_point(Dtype::bf16));
    QVERIFY(!is_floating_point(Dtype::i64));
    QVERIFY(!is_floating_point(Dtype::f8_e4m3));
  }
};

HEDDLE_TEST(NumbersTest)
#include "numbers_test.moc"
