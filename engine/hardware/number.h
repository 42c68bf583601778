// A number of the catalogue, with where it is from.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace heddle::hardware {

enum class Origin { measured, data_sheet, guess };
inline constexpr std::array kOriginNames = {"measured", "data-sheet", "guess"};
inline std::string_view name_of(Origin origin) { return kOriginNames[static_cast<size_t>(origin)]; }

/// In the unit that its key names: `memory_gb_per_s` is in units of 1e9 bytes a second.
struct Number {
  double value = 0;
  Origin origin = Origin::guess;
  std::string source;  // who measured or published it, or why it is guessed; never empty

  bool known() const { return !source.empty(); }
  bool operator==(const Number&) const = default;
};

/// One of each of NCCL's protocols: LL and LL128 carry flags among the data and so start sooner;
/// Simple moves most.
struct ByProtocol {
  std::array<double, 3> value{};  // LL, LL128, Simple
  Origin origin = Origin::guess;
  std::string source;

  bool known() const { return !source.empty(); }
  bool operator==(const ByProtocol&) const = default;
};

}  // namespace heddle::hardware
