#include "engine/telemetry/frame.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle::telemetry {
namespace {

static_assert(std::endian::native == std::endian::little, "logs are little-endian");

constexpr size_t kCheckAt = 20;
constexpr size_t kChecksumAt = 24;

template <typename T>
void put(char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <typename T>
T get(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

uint32_t header_check(const char* header) {
  return static_cast<uint32_t>(XXH3_64bits(header, kCheckAt));
}

/// The header fields before the checks.
void put_fields(char* to, const FrameHeader& header) {
  put(to, kMagic);
  put(to + 4, header.version);
  put(to + 6, header.type);
  put(to + 8, header.seq);
  put(to + 16, header.length);
}

}  // namespace

FrameHeader header_of(uint16_t type, uint64_t seq, std::string_view payload, uint16_t version) {
  FrameHeader header{.version = version,
                     .type = type,
                     .seq = seq,
                     .length = static_cast<uint32_t>(payload.size())};
  char bytes[kFrameHeaderBytes];
  put_fields(bytes, header);
  header.check = header_check(bytes);
  header.checksum = payload_checksum(header, payload);
  return header;
}

std::string frame(uint16_t type, uint64_t seq, std::string_view payload, uint16_t version) {
  const FrameHeader header = header_of(type, seq, payload, version);
  std::string bytes(kFrameHeaderBytes, '\0');
  put_fields(bytes.data(), header);
  put(bytes.data() + kCheckAt, header.check);
  put(bytes.data() + kChecksumAt, header.checksum);
  bytes += payload;
  return bytes;
}

bool read_header(std::string_view bytes, FrameHeader& header) {
  const char* at = bytes.data();
  if (get<uint32_t>(at) != kMagic) return false;
  header.version = get<uint16_t>(at + 4);
  header.type = get<uint16_t>(at + 6);
  header.seq = get<uint64_t>(at + 8);
  header.length = get<uint32_t>(at + 16);
  header.check = get<uint32_t>(at + kCheckAt);
  header.checksum = get<uint64_t>(at + kChecksumAt);
  return header.check == header_check(at);
}

uint64_t payload_checksum(const FrameHeader& header, std::string_view payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), header.check);
}

size_t find_magic(std::string_view bytes, size_t from) {
  char magic[sizeof kMagic];
  put(magic, kMagic);
  const std::string_view whole(magic, sizeof magic);
  const size_t found = bytes.find(whole, from);
  if (found != std::string_view::npos) return found;
  for (size_t length = whole.size() - 1; length > 0; --length) {
    const size_t at = bytes.size() - std::min(bytes.size(), length);
    if (at >= from && bytes.substr(at) == whole.substr(0, bytes.size() - at)) return at;
  }
  return bytes.size();
}

}  // namespace heddle::telemetry
