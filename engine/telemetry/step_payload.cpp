#include "engine/telemetry/step_payload.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace heddle::telemetry {
namespace {

// CBOR's kinds of items (RFC 8949, 3.1), and its numbers of 16, 32 and 64 bits.
enum class Kind : uint8_t { whole = 0, negative = 1, text = 3, map = 5 };
constexpr uint8_t kHalf = 0xf9, kFloat = 0xfa, kDouble = 0xfb;

/// The first byte, then the number from its highest byte on.
template <typename Number>
void put_wide(std::string& bytes, uint8_t first, Number number) {
  std::array<char, 1 + sizeof(Number)> all{static_cast<char>(first)};
  for (size_t i = 0; i < sizeof(Number); ++i)
    all[sizeof(Number) - i] = static_cast<char>(number >> (8 * i));
  bytes.append(all.data(), all.size());
}

void put_head(std::string& bytes, Kind kind, uint64_t number) {
  const auto first = static_cast<uint8_t>(static_cast<uint8_t>(kind) << 5);
  constexpr uint64_t kInFirst = 23;
  if (number <= kInFirst)
    bytes += static_cast<char>(first | number);
  else if (number <= std::numeric_limits<uint8_t>::max())
    put_wide(bytes, first | 24, static_cast<uint8_t>(number));
  else if (number <= std::numeric_limits<uint16_t>::max())
    put_wide(bytes, first | 25, static_cast<uint16_t>(number));
  else if (number <= std::numeric_limits<uint32_t>::max())
    put_wide(bytes, first | 26, static_cast<uint32_t>(number));
  else
    put_wide(bytes, first | 27, number);
}

/// In the fewest bytes that keep its value.
void put_double(std::string& bytes, double value) {
  constexpr double kMax = std::numeric_limits<float>::max();
  if (std::isnan(value)) return put_wide(bytes, kHalf, uint16_t{0x7e00});
  if (std::isinf(value)) return put_wide(bytes, kHalf, uint16_t(value > 0 ? 0x7c00 : 0xfc00));
  if (value >= -kMax && value <= kMax && static_cast<double>(static_cast<float>(value)) == value)
    return put_wide(bytes, kFloat, std::bit_cast<uint32_t>(static_cast<float>(value)));
  put_wide(bytes, kDouble, std::bit_cast<uint64_t>(value));
}

void put_name(std::string& bytes, std::string_view name) {
  put_head(bytes, Kind::text, name.size());
  bytes += name;
}

}  // namespace

void begin_step(std::string& bytes, int64_t step, double time, size_t values) {
  bytes.clear();
  put_head(bytes, Kind::map, 3);
  put_name(bytes, "step");
  if (step >= 0)
    put_head(bytes, Kind::whole, static_cast<uint64_t>(step));
  else
    put_head(bytes, Kind::negative, static_cast<uint64_t>(-1 - step));
  put_name(bytes, "time");
  put_double(bytes, time);
  put_name(bytes, "values");
  put_head(bytes, Kind::map, values);
}

std::string name_in_step(std::string_view name) {
  std::string bytes;
  put_name(bytes, name);
  return bytes;
}

void add_to_step(std::string& bytes, std::string_view name_in_step, double value) {
  bytes += name_in_step;
  put_double(bytes, value);
}

}  // namespace heddle::telemetry
