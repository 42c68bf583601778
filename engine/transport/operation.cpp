#include "engine/transport/operation.h"

#include <c10/core/ScalarType.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heddle::transport {
namespace {

const char* name(Kind kind) {
  switch (kind) {
    case Kind::all_gather:
      return "all-gather";
    case Kind::reduce_scatter:
      return "reduce-scatter";
    case Kind::all_reduce:
      return "all-reduce";
    case Kind::all_to_all:
      return "all-to-all";
    case Kind::barrier:
      return "barrier";
  }
  return "unknown";
}

// "all-gather layers.3".
std::string labelled(const Descriptor& descriptor) {
  if (descriptor.label[0] == '\0') return name(descriptor.kind);
  return fmt::format("{} {}", name(descriptor.kind),
                     std::string(descriptor.label, strnlen(descriptor.label, kLabelBytes)));
}

// Rank r's share of a range that does not divide: whole cache lines, the last ones fewer or none.
Range slice(const Range& range, int r, int size) {
  constexpr uint64_t kLine = 64;
  const uint64_t lines = (range.bytes + kLine - 1) / kLine;
  const uint64_t share = (lines + size - 1) / size * kLine;
  const uint64_t begin = std::min(range.bytes, share * r);
  return {range.address + begin, std::min(range.bytes - begin, share)};
}

Range row(const Range& range, int r, int size) {
  const uint64_t bytes = range.bytes / size;
  return {range.address + bytes * r, bytes};
}

}  // namespace

void describe_sources(Operation& operation) {
  Descriptor& descriptor = operation.descriptor;
  descriptor.range_count = operation.sources.size();
  descriptor.bytes = total_bytes(operation.sources);
  descriptor.ranges_address = reinterpret_cast<uint64_t>(operation.sources.data());
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a over whole sizes
  for (const Range& range : operation.sources) hash = (hash ^ range.bytes) * 0x100000001b3;
  descriptor.sizes_hash = hash;
}

bool agree(const Descriptor& a, const Descriptor& b) {
  const bool same_call = a.sequence == b.sequence && a.kind == b.kind &&
                         a.reduction == b.reduction && a.dtype == b.dtype &&
                         a.range_count == b.range_count &&
                         std::strncmp(a.label, b.label, kLabelBytes) == 0;
  // The splits of an all-to-all are each rank's own.
  return same_call &&
         (a.kind == Kind::all_to_all || (a.bytes == b.bytes && a.sizes_hash == b.sizes_hash));
}

std::string call_text(const Descriptor& descriptor) {
  const std::string text = labelled(descriptor);
  if (descriptor.kind == Kind::barrier) return text;
  return fmt::format("{}, {} range{} of {}", text, descriptor.range_count,
                     descriptor.range_count == 1 ? "" : "s", c10::toString(descriptor.dtype));
}

std::string to_string(const Descriptor& descriptor) {
  std::string text = fmt::format("#{} {}", descriptor.sequence, labelled(descriptor));
  if (descriptor.kind != Kind::barrier)
    text += fmt::format(" ({} range{}, {} bytes of {})", descriptor.range_count,
                        descriptor.range_count == 1 ? "" : "s", descriptor.bytes,
                        c10::toString(descriptor.dtype));
  return text;
}

std::vector<Range> parts(const Operation& operation, int exchange,
                         const std::vector<Range>& sources, int owner, int reader, int size) {
  std::vector<Range> result;
  switch (operation.descriptor.kind) {
    case Kind::all_gather:
      return sources;
    case Kind::all_to_all:
      return {sources.at(reader)};
    case Kind::reduce_scatter:
      for (const Range& range : sources) result.push_back(row(range, reader, size));
      return result;
    case Kind::all_reduce:
      if (operation.whole) return sources;
      for (const Range& range : sources)
        result.push_back(slice(range, exchange == 0 ? reader : owner, size));
      return result;
    case Kind::barrier:
      return {};
  }
  return {};
}

std::vector<Range> places(const Operation& operation, int exchange, int owner, int size) {
  std::vector<Range> result;
  switch (operation.descriptor.kind) {
    case Kind::all_gather:
      for (const Range& range : operation.targets) result.push_back(row(range, owner, size));
      return result;
    case Kind::all_to_all:
      return {operation.targets.at(owner)};
    case Kind::all_reduce:
      TORCH_INTERNAL_ASSERT(exchange == 1);
      for (const Range& range : operation.targets) result.push_back(slice(range, owner, size));
      return result;
    case Kind::reduce_scatter:
    case Kind::barrier:
      return {};
  }
  return {};
}

std::vector<Range> sums(const Operation& operation, int reader, int size) {
  if (operation.descriptor.kind != Kind::all_reduce || operation.whole) return operation.targets;
  std::vector<Range> result;
  for (const Range& range : operation.targets) result.push_back(slice(range, reader, size));
  return result;
}

uint64_t total_bytes(const std::vector<Range>& ranges) {
  uint64_t sum = 0;
  for (const Range& range : ranges) sum += range.bytes;
  return sum;
}

void lay_out(std::vector<Range>& ranges, const at::Tensor& memory) {
  auto at = reinterpret_cast<uint64_t>(memory.data_ptr());
  for (Range& range : ranges) {
    range.address = at;
    at += range.bytes;
  }
}

}  // namespace heddle::transport
