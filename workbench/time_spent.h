// How one rank's step was spent, instant by instant.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/telemetry/record.h"

namespace heddle::workbench {

/// Exposed: compute waits while something is transferred, or while other ranks of its stage have
/// yet to reach a transfer, as on the timeline. Bubble: it waits for another pipeline stage to
/// reach one. Idle: nothing is under way.
enum class Part : uint8_t { compute, exposed, bubble, idle };
inline constexpr std::array kPartNames = {"compute", "exposed", "bubble", "idle"};
inline constexpr size_t kParts = kPartNames.size();

/// Microseconds by part.
struct Spent {
  std::array<int64_t, kParts> us{};

  int64_t& operator[](Part part) { return us[static_cast<size_t>(part)]; }
  int64_t operator[](Part part) const { return us[static_cast<size_t>(part)]; }
  int64_t total() const {
    int64_t sum = 0;
    for (const int64_t each : us) sum += each;
    return sum;
  }
  Spent operator-(const Spent& other) const {
    Spent difference;
    for (size_t i = 0; i < kParts; ++i) difference.us[i] = us[i] - other.us[i];
    return difference;
  }
  bool operator==(const Spent&) const = default;
};

/// A part of the step, and the span that it is put down to: what computes, what is transferred, or
/// what is waited for.
struct Stretch {
  int64_t begin = 0, end = 0;  // microseconds from the step's begin
  Part part = Part::idle;
  int32_t span = -1;  // index; −1: nothing is under way
  bool operator==(const Stretch&) const = default;
};

/// [0, step_us) cut into stretches, in order and without a gap. Where several spans are under way,
/// compute counts before transfers, these before bubbles and waits, and of one kind the span that
/// began first. Spans outside the step are left out.
std::vector<Stretch> stretches_of(const std::vector<telemetry::Span>& spans, int64_t step_us);

}  // namespace heddle::workbench
