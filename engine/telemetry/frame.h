// The frame around a payload: one layout, shared by writer and reader. See record.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/telemetry/record.h"

namespace heddle::telemetry {

struct FrameHeader {
  uint16_t version = kVersion;
  uint16_t type = 0;
  uint64_t seq = 0;
  uint32_t length = 0;    // of the payload
  uint32_t check = 0;     // of the header
  uint64_t checksum = 0;  // of the payload
};

/// The header of such a frame.
FrameHeader header_of(uint16_t type, uint64_t seq, std::string_view payload,
                      uint16_t version = kVersion);

/// Whether `decode` would take such a payload: see `encode`.
Result<> check_payload(Type type, std::string_view payload);

/// Header and payload as they go to the log.
std::string frame(uint16_t type, uint64_t seq, std::string_view payload,
                  uint16_t version = kVersion);

/// The header at the start of `bytes` (at least kFrameHeaderBytes). False: no magic, or a wrong
/// check.
bool read_header(std::string_view bytes, FrameHeader& header);

uint64_t payload_checksum(const FrameHeader& header, std::string_view payload);

/// Where the magic's first byte may be next at or after `from`; `bytes.size()` when nowhere. A
/// magic cut off by the end counts.
size_t find_magic(std::string_view bytes, size_t from);

}  // namespace heddle::telemetry
