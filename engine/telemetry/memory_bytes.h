// A rank's memory by category.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace heddle::telemetry {

/// Memory by purpose. `other` is what no plan decides: the program, its libraries and, on a
/// GPU, the context, the allocator's loss and NCCL's buffers.
enum class Category : uint8_t {
  parameters,     // shards of the parameters
  gradients,      // sums of gradients and shards of them
  optimizer,      // states that the optimizer keeps
  activations,    // what forward leaves for backward, and what is being computed
  communication,  // whole parameters and gradients, from their gather or to their scatter
  workspace,      // what operators take for themselves
  other,
};
inline constexpr std::array kCategoryNames = {
    "parameters", "gradients", "optimizer", "activations", "communication", "workspace", "other"};
inline constexpr size_t kCategories = kCategoryNames.size();

/// Bytes by category.
struct MemoryBytes {
  std::array<int64_t, kCategories> bytes{};

  int64_t& operator[](Category category) { return bytes[static_cast<size_t>(category)]; }
  int64_t operator[](Category category) const { return bytes[static_cast<size_t>(category)]; }
  int64_t total() const {
    int64_t sum = 0;
    for (const int64_t each : bytes) sum += each;
    return sum;
  }
  bool operator==(const MemoryBytes&) const = default;
};

/// Memory in use from a moment of the step on.
struct MemoryMoment {
  int64_t time_us = 0;
  MemoryBytes bytes;

  bool operator==(const MemoryMoment&) const = default;
};

/// The most moments of one rank's step.
inline constexpr size_t kMaxMoments = 2000;

}  // namespace heddle::telemetry
