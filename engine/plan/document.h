// The prediction of a step, as a document: figures, memory, and every distinct rank's timeline.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/memory_bytes.h"
#include "engine/telemetry/record.h"

namespace heddle::plan {

/// A collective of a rank's planned graph.
struct Transfer {
  int32_t node = -1;  // as in its span
  int32_t wait = -1;  // the node that waits for it: those from there on need it; −1: none does
  int64_t bytes = 0;  // that the rank moves
  std::string group;  // the process group's name (recipe/mesh.h)

  bool operator==(const Transfer&) const = default;
};

/// A rank's step: the spans are of the type of the measured ones.
struct RankTimeline {
  int64_t rank = 0;
  std::vector<telemetry::Span> spans;    // by start
  std::vector<MemoryMoment> memory;      // by time
  std::vector<Transfer> transfers = {};  // by node; none where the step was planned by parts
};

/// A rank that represents all ranks of its pipeline stage, which do the same. Seconds of a step;
/// compute + exposed + bubble + idle = step.
struct RankFigures {
  int64_t rank = 0;
  int64_t stage = 0;  // the first of its pipeline stages
  int64_t ranks = 1;  // how many do the same
  double step_seconds = 0;
  double compute_seconds = 0;
  double exposed_seconds = 0;  // compute waits while something is transferred
  double bubble_seconds = 0;   // or while another pipeline stage has yet to send it
  double idle_seconds = 0;     // or for nothing of these
  int64_t peak_bytes = 0;
  MemoryBytes memory;  // at the peak

  bool operator==(const RankFigures&) const = default;
};

/// Parameters that are gathered, and their gradients scattered, together.
struct BucketFigures {
  std::string name;  // "layers.3"
  std::vector<std::string> modules;
  int64_t stage = 0;
  int64_t gather_bytes = 0;  // of the whole parameters of a tensor-parallel rank
  double gather_seconds = 0;
  double scatter_seconds = 0;
  double exposed_seconds = 0;  // of all its transfers in a step

  bool operator==(const BucketFigures&) const = default;
};

/// A transfer that compute waits for.
struct Exposed {
  std::string node;     // "all_gather layers.3 (backward)"
  int64_t rank = 0;     // of `ranks_shown`
  int64_t bucket = -1;  // index into `buckets`; −1: of none
  double seconds = 0;
  std::string why;  // "its compute is shorter": what would have hidden it

  bool operator==(const Exposed&) const = default;
};

/// A model's FLOPs count by one of the customs there are.
struct Mfu {
  std::string convention;  // "6 N without the embedding + full attention (TorchTitan, NeMo)"
  double flops_per_token = 0;
  double mfu = 0;

  bool operator==(const Mfu&) const = default;
};

/// Another way to run the recipe: the changes, and their prediction.
struct Variant {
  std::vector<std::string> sets;  // "parallelism.tp = 8", as in the recipe
  int64_t ranks = 0;
  int64_t peak_bytes = 0;
  int64_t limit_bytes = 0;
  double step_seconds = 0;

  int64_t lacks() const { return peak_bytes > limit_bytes ? peak_bytes - limit_bytes : 0; }
  bool operator==(const Variant&) const = default;
};

/// The shortfall of a plan that does not fit, and planned variants that would close it.
struct Shortfall {
  int64_t bytes = 0;                        // on `peak_rank`
  Category largest = Category::parameters;  // what most of that rank's memory is for
  std::vector<Variant> closed_by = {};      // the mildest first
  /// Where no variant on these ranks closes it: the one of them that lacks least.
  std::optional<Variant> least = {};

  bool operator==(const Shortfall&) const = default;
};

/// The range of a figure nine times in ten, by how far such predictions have been off.
struct Interval {
  double step_low = 0, step_high = 0;    // seconds
  double bytes_low = 0, bytes_high = 0;  // of the rank that needs most
  std::string words;                     // what it is from

  bool operator==(const Interval&) const = default;
};

/// The document. Bytes and seconds; `peak_bytes` is of the rank that needs most, as reserved on the
/// device.
struct Document {
  std::string recipe;    // its file's name
  std::string hardware;  // of the catalogue
  std::string hardware_words;
  int64_t ranks = 1;
  std::string executor = "heddle";
  double step_seconds = 0;
  int64_t tokens_per_step = 0;  // of all ranks
  double tokens_per_second_per_rank = 0;
  double peak_flops = 0;       // of a device; 0: unknown, and there is no MFU
  std::vector<Mfu> mfu;        // the first one is what is shown unless another is asked for
  double exposed_seconds = 0;  // of the slowest stage
  double bubble_seconds = 0;   // of all ranks, in the mean
  int64_t peak_bytes = 0;
  int64_t limit_bytes = 0;
  int64_t peak_rank = 0;               // of `ranks_shown`: which needs most
  MemoryBytes memory;                  // of that rank at its peak
  std::optional<Shortfall> shortfall;  // where it does not fit
  std::vector<RankFigures> ranks_shown;
  std::vector<BucketFigures> buckets;
  int64_t collectives = 0;
  std::map<std::string, int64_t> bytes_by_group;  // that a rank moves in a step
  std::vector<Exposed> exposed;                   // the longest first
  double uncertain = 0;              // the share by which such predictions have been wrong
  std::string uncertain_words;       // where that is from
  std::optional<Interval> interval;  // of `step_seconds` and `peak_bytes`, which are in it
  /// Finished runs by which `step_seconds` and the timelines are refined; 0: they are as calibrated
  /// or as published.
  int64_t refined_by_runs = 0;
  /// On hardware on which nothing of this executor was ever measured: that, in a sentence.
  std::string never_measured;
  std::string busy_now;              // who else uses this machine now, in a sentence; empty: nobody
  std::vector<std::string> sources;  // of the figures behind it
  std::vector<std::string> remarks;  // what is not counted, guessed or old
  /// Others' measurements of runs like it, the most alike first, in words with their sources.
  std::vector<std::string> published;
  std::string choice;  // which wrapping and order was taken
  std::string plan_hash;
  double plan_seconds = 0;              // what making it took
  std::vector<RankTimeline> timelines;  // of `ranks_shown`, where they were asked for

  bool fits() const { return limit_bytes == 0 || peak_bytes <= limit_bytes; }
};

/// As `heddle-engine plan --json` writes it, timelines included where there are any.
nlohmann::ordered_json to_json(const Document& document);
/// Unknown keys are ignored, missing ones keep their defaults. Throws nlohmann::json::exception for
/// what is of another type. Also throws where a timeline's columns differ in length or the names of
/// all spans exceed 64 MiB.
Document from_json(const nlohmann::json& json);

}  // namespace heddle::plan
