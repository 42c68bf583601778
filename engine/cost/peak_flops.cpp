#include "engine/cost/peak_flops.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace heddle::cost {
namespace {

struct Peak {
  std::string_view model, variant;  // words of the name; no variant: any other
  double tflops;
};

// Variants before what they are variants of.
constexpr std::array kPeaks = {
    Peak{"A100", "", 312}, Peak{"H100", "PCIe", 756}, Peak{"H100", "NVL", 835},
    Peak{"H100", "", 989}, Peak{"H200", "NVL", 835},  Peak{"H200", "", 989},
    Peak{"H20", "", 148},  Peak{"B200", "", 2250},    Peak{"GB200", "", 2500},
    Peak{"L40S", "", 362},
};

// A whole word: "B200" is not in "GB200".
bool has_word(std::string_view name, std::string_view word) {
  const auto within = [&](size_t i) {
    return i < name.size() && std::isalnum(static_cast<unsigned char>(name[i]));
  };
  for (size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1))
    if ((at == 0 || !within(at - 1)) && !within(at + word.size())) return true;
  return false;
}

}  // namespace

std::optional<double> peak_flops(std::string_view gpu) {
  if (has_word(gpu, "MIG")) return std::nullopt;  // a part of one
  const auto found = std::ranges::find_if(kPeaks, [&](const Peak& peak) {
    return has_word(gpu, peak.model) && (peak.variant.empty() || has_word(gpu, peak.variant));
  });
  if (found == kPeaks.end()) return std::nullopt;
  return found->tflops * 1e12;
}

}  // namespace heddle::cost
