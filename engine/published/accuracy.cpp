#include "engine/published/accuracy.h"

#include <algorithm>
#include <cmath>

#include "engine/published/cells.h"

namespace heddle::published {
namespace {

constexpr std::string_view kAccuracyHeader = "program,hardware,precision,rows,off,spread";

Accuracy accuracy_from(Cells& cell) {
  Accuracy accuracy;
  for (std::string* member : {&accuracy.program, &accuracy.hardware, &accuracy.precision})
    cell(*member);
  cell(accuracy.rows);
  cell.any_number(accuracy.off);
  cell(accuracy.spread);
  return accuracy;
}

/// All of these together: as far as the farthest.
Expected together(const std::vector<const Accuracy*>& some) {
  Expected expected;
  for (const Accuracy* each : some) {
    expected.rows += each->rows;
    expected.low = std::min(expected.low, (1 + each->off) / (1 + each->spread));
    expected.high = std::max(expected.high, (1 + each->off) * (1 + each->spread));
    std::string& words = expected.hardware_words;
    if (words.find(each->hardware) == std::string::npos)
      words += (words.empty() ? "" : ", ") + each->hardware;
  }
  return expected;
}

}  // namespace

Result<std::vector<Accuracy>> read_accuracy(std::string_view table) {
  return read_table<Accuracy>(table, kAccuracyHeader, accuracy_from);
}

Expected expected_of(const std::vector<Accuracy>& all, const std::string& program,
                     const std::string& hardware, const std::string& precision) {
  constexpr double kFarther = 1.5;  // where there is nothing of that hardware
  const std::string node = hardware.substr(0, hardware.find('@'));
  const auto those = [&](bool there, bool so) {
    std::vector<const Accuracy*> some;
    for (const Accuracy& each : all)
      if (each.program == program && (!there || each.hardware == node) &&
          (!so || each.precision == precision))
        some.push_back(&each);
    return some;
  };
  for (const bool so : {true, false})
    if (const auto some = those(true, so); !some.empty()) {
      Expected expected = together(some);
      expected.on_hardware = true;
      return expected;
    }
  for (const bool so : {true, false})
    if (const auto some = those(false, so); !some.empty()) {
      Expected expected = together(some);
      expected.low = std::pow(expected.low, kFarther);
      expected.high = std::pow(expected.high, kFarther);
      return expected;
    }
  return {.low = 0.5, .high = 2, .hardware_words = {}};
}

}  // namespace heddle::published
