// Telemetry records, which a rank appends to its log and the store ingests. Format: one frame a
// record, little-endian header (kFrameHeaderBytes) followed by a CBOR payload:
//   magic u32 "HDL1" · version u16 · type u16 · seq u64 · length u32 · header check u32 (low half
//   of the XXH3-64 of the fields before it) · checksum u64 (XXH3-64 of the payload, seeded with the
//   header check).
// The header's own check tells a torn tail (wait for more) from a damaged length (search on).
// A log is (run, rank, epoch); seq starts at 0 and grows by one a record in it. A torn tail is
// normal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "engine/telemetry/memory_bytes.h"

namespace heddle::telemetry {

inline constexpr uint32_t kMagic = 0x314c4448;  // "HDL1"
inline constexpr uint16_t kVersion = 1;
inline constexpr size_t kFrameHeaderBytes = 32;
inline constexpr uint32_t kMaxPayloadBytes = 16u << 20;   // longer: not a record of ours
inline constexpr size_t kMaxSpans = 200'000;              // of one step on one rank
inline constexpr size_t kMaxSpanText = size_t{16} << 20;  // bytes of their names, with repetitions
inline constexpr int32_t kSupervisorRank = -1;            // the supervisor's own log

enum class Type : uint16_t { start = 1, step = 2, spans = 3, log = 4, end = 5, plan = 6 };

/// First record of a log: who writes it. `environment` is flat (host, cpu, engine version, torch
/// …); `facts` are numbers known before the first step (nodes, collectives, capture_seconds …).
struct Start {
  double time = 0;  // seconds since the Unix epoch
  int32_t rank = 0;
  int32_t world_size = 1;
  std::string mode;  // planned | eager
  std::map<std::string, std::string> environment;
  std::map<std::string, double> facts;
};

/// One training step as a rank saw it. `values` holds the metrics that metrics.h lists for steps,
/// some of them in some steps only (exposed_seconds, validation_loss).
struct Step {
  int64_t step = 0;  // 1-based: the step that has just ended
  double time = 0;
  std::map<std::string, double> values;
};

/// A span's stream. In the last two compute waits for other ranks to reach a transfer: ranks of its
/// own pipeline stage (wait), or of another one (bubble).
inline constexpr uint8_t kCompute = 0, kTransfer = 1, kWait = 2, kBubble = 3;

/// A piece of work on a stream, in microseconds from the step's start.
struct Span {
  std::string name;         // operator, as "mm" or "all_gather"
  std::string module = {};  // "layers.3.attention.wq"
  int64_t start_us = 0;
  int64_t duration_us = 0;
  uint8_t stream = kCompute;
  uint8_t phase = 0;  // 0 forward, 1 backward, 2 optimizer
  int32_t node = -1;  // its number in the rank's planned graph; −1: unknown
};

/// Whether the times are some that a step has: their sums can be made.
inline bool has_sound_times(const Span& span) {
  constexpr int64_t kCentury = int64_t{1} << 52;  // microseconds
  return -kCentury < span.start_us && span.start_us < kCentury && 0 <= span.duration_us &&
         span.duration_us < kCentury;
}

/// The timeline of one profiled step of one rank.
struct Spans {
  int64_t step = 0;
  double time = 0;  // Unix seconds at the step's start
  std::vector<Span> spans;
  std::vector<MemoryMoment> memory = {};  // by time; empty: it was not measured
};

enum class Level : uint8_t { info = 0, warning = 1, error = 2 };

struct Log {
  double time = 0;
  Level level = Level::info;
  std::string text;
};

/// Last record of a log.
struct End {
  double time = 0;
  std::string state;                      // done | failed | stopped
  std::string cause;                      // empty when done
  std::map<std::string, double> results;  // the numbers of train's last line
};

/// The limits of a plan's document. A longer one is kept without its timelines.
inline constexpr Budget kPlanDocument{.bytes = size_t{8} << 20, .values = 2'000'000, .depth = 16};

/// The plan of the run's steps as it was predicted, before the first one: rank 0's log has it.
struct Plan {
  double time = 0;
  std::string hash;      // of the plan (train/plan_hash.h)
  std::string document;  // JSON: engine/plan/document.h
};

using Record = std::variant<Start, Step, Spans, Log, End, Plan>;

Type type_of(const Record& record);

/// Whether such a record is a line of a log for people; timelines and plans are drawn.
inline bool is_line(Type type) { return type != Type::spans && type != Type::plan; }

/// The record's frame, header and payload, ready to be written with one write(). Fails where
/// `decode` would: a timeline may have kMaxPayloadBytes, a step 128 KiB, another record 1 MiB.
Result<std::string> encode(const Record& record, uint64_t seq);

/// Drops the spans beyond what one record may hold, the last ones of the step; says how many.
size_t cut_to_fit(Spans& spans);

/// A frame's payload back to its record. Fails when the payload is not one of `type`, or holds more
/// than one of ours may; unknown keys are ignored, missing ones keep their defaults.
Result<Record> decode(Type type, std::string_view payload);

}  // namespace heddle::telemetry
