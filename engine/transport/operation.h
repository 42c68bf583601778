// A collective as data: what each rank offers, what each reads of it, and where that goes.
//
// Every collective is one exchange, or two (a large all-reduce: sum one's own slice, then copy the
// others'). In an exchange each rank reads parts of the ranges that the others offer (`parts`), and
// either copies them (to `places`) or sums them over the ranks (into `sums`).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/transport/timed_work.h"

namespace heddle::transport {

enum class Kind : uint8_t { all_gather, reduce_scatter, all_reduce, all_to_all, barrier };
enum class Reduction : uint8_t { none, sum, max };

/// Bytes of the memory of the process that says so.
struct Range {
  uint64_t address = 0;
  uint64_t bytes = 0;

  std::byte* data() const { return reinterpret_cast<std::byte*>(address); }
};

inline constexpr size_t kLabelBytes = 96;

/// Ranks compare these before they exchange anything. It is in shared memory and in messages.
struct Descriptor {
  uint64_t sequence = 0;
  uint64_t range_count = 0;
  uint64_t bytes = 0;           // of all ranges
  uint64_t sizes_hash = 0;      // of the bytes of each range
  uint64_t ranges_address = 0;  // of the Range list in its rank's memory; not compared
  Kind kind = Kind::barrier;
  Reduction reduction = Reduction::none;
  at::ScalarType dtype = at::kByte;
  char label[kLabelBytes] = {};
};

/// One collective of one rank, from its start to its end.
struct Operation {
  Descriptor descriptor;
  std::vector<Range> sources;       // what the other ranks read
  std::vector<Range> targets;       // where the result goes
  bool whole = false;               // an all-reduce so small that every rank sums all of it
  std::vector<at::Tensor> tensors;  // keep the memory alive
  c10::intrusive_ptr<TimedWork> work;
  uint64_t flight = 0;  // its number in the flight recorder

  int exchanges() const { return descriptor.kind == Kind::all_reduce && !whole ? 2 : 1; }
  /// Whether the exchange sums; else it copies.
  bool sums(int exchange) const { return descriptor.reduction != Reduction::none && exchange == 0; }
};

/// Fills in the descriptor's figures from the sources.
void describe_sources(Operation& operation);

/// Whether two ranks are in the same collective.
bool agree(const Descriptor& a, const Descriptor& b);

/// "all-gather layers.3, 9 ranges of Float".
std::string call_text(const Descriptor& descriptor);

/// "#12 all-gather layers.3 (9 ranges, 4096 bytes of Float)".
std::string to_string(const Descriptor& descriptor);

/// The ranges that `reader` reads of `sources`, which `owner` offers to the group's `size` ranks.
/// The reader's `places` for a copy, and `sums` for a sum, have as many entries, of the same bytes.
std::vector<Range> parts(const Operation& operation, int exchange,
                         const std::vector<Range>& sources, int owner, int reader, int size);
std::vector<Range> places(const Operation& operation, int exchange, int owner, int size);
std::vector<Range> sums(const Operation& operation, int reader, int size);

uint64_t total_bytes(const std::vector<Range>& ranges);

/// Moves the ranges, sizes kept, to lie one after the other in a tensor.
void lay_out(std::vector<Range>& ranges, const at::Tensor& memory);

}  // namespace heddle::transport
