#include "engine/predict/published_interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/cost/executor.h"
#include "engine/published/accuracy.h"

namespace heddle::predict {
namespace {

published::Expected expected_of(const std::string& program, const std::string& hardware,
                                bool eight_bits) {
  static const auto all = published::read_accuracy(published::built_in_accuracy())
                              .value_or(std::vector<published::Accuracy>());
  return published::expected_of(all, program, hardware, eight_bits ? "fp8" : "bf16");
}

std::string runs_words(const published::Expected& expected, const std::string& title) {
  if (expected.rows == 0) return fmt::format("no run of {} was published: a factor of two", title);
  return fmt::format("by how far predictions of {} published run{} of {} on {} were off",
                     expected.rows, expected.rows == 1 ? "" : "s", title, expected.hardware_words);
}

void add(plan::Document& document, double low, double high, double memory,
         const std::string& words) {
  const auto bytes = static_cast<double>(document.peak_bytes);
  document.interval =
      plan::Interval{document.step_seconds * low, document.step_seconds * high,
                     bytes / (1 + memory), bytes * (1 + memory), "nine times in ten, " + words};
}

}  // namespace

void add_published_interval(plan::Document& document, bool eight_bits) {
  constexpr double kFarther = 1.5, kMemory = 0.2;
  const bool own = document.executor == cost::kExecutorNames.front();
  const published::Expected expected =
      expected_of(own ? "compiled" : document.executor, document.hardware, eight_bits);
  // On other hardware it is half as far again already.
  const double power = own && expected.on_hardware ? kFarther : 1.0;
  std::string words =
      runs_words(expected, document.executor == "eager" ? "FSDP2" : "torch.compile with FSDP2");
  if (own) words += ", and half as far again: Heddle was never measured there";
  add(document, std::pow(expected.low, power), std::pow(expected.high, power),
      own ? kMemoryMargin : kMemory, words);
}

void add_published_interval(plan::Document& document, const hardware::Program& program,
                            bool eight_bits, int64_t nodes) {
  const double doublings = std::log2(static_cast<double>(std::max<int64_t>(nodes, 1)));
  const double off = 1 + program.spread.value + program.spread_a_doubling.value * doublings;
  const published::Expected expected = expected_of(program.name, document.hardware, eight_bits);
  // Runs of one kind say little of others: never nearer than all of the program's were.
  add(document, std::min(expected.low, 1 / off), std::max(expected.high, off),
      program.memory_spread.value, runs_words(expected, program.title));
  if (!expected.on_hardware)
    document.never_measured =
        fmt::format("no run of {} on {} was published", program.title, document.hardware);
}

}  // namespace heddle::predict
