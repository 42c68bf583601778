// The header of a safetensors file as bytes: its length (u64), then JSON padded with spaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/safetensors.h"

namespace heddle::checkpoint {

inline constexpr int64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

struct SafetensorsHeader {
  Metadata metadata;
  std::vector<std::pair<TensorInfo, size_t>> tensors;  // with the offset in the file, ascending
};

/// Checks the header against the file it begins: every tensor's bytes are there, are as many as its
/// shape says, and belong to it alone; nothing is between or after them.
Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> file);

/// Length and JSON for tensors that follow each other in this order.
std::string safetensors_header(const std::vector<TensorInfo>& tensors, const Metadata& metadata);

}  // namespace heddle::checkpoint
