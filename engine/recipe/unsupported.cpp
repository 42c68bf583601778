// What the engine cannot execute yet. A line goes when the engine gains it.
#include <fmt/format.h>

#include <functional>

#include "engine/recipe/resolve.h"

namespace heddle::recipe {
namespace {

struct Limit {
  const char* key;
  std::function<bool(const Recipe&)> asked;
  const char* what;
  const char* valid;
};

const std::vector<Limit>& limits() {
  static const std::vector<Limit> all = {
      {"data.document_mask", [](const Recipe& r) { return r.data.document_mask; },
       "documents are not masked from each other", "false"},
      {"optimizer.name", [](const Recipe& r) { return r.optimizer.name != "adamw"; },
       "this optimizer is not built in", "\"adamw\""},
      {"parallelism.dp_replicate", [](const Recipe& r) { return r.parallelism.dp_replicate > 1; },
       "replicated sharding is not executed", "1"},
      {"parallelism.tp", [](const Recipe& r) { return r.parallelism.tp > 1; },
       "tensor parallelism is not executed", "1"},
      {"parallelism.pp", [](const Recipe& r) { return r.parallelism.pp > 1; },
       "pipeline parallelism is not executed", "1"},
      {"parallelism.cp", [](const Recipe& r) { return r.parallelism.cp > 1; },
       "context parallelism is not executed", "1"},
      {"wrapping.reshard_after_forward",
       [](const Recipe& r) { return r.wrapping.reshard_after_forward > 0; },
       "resharding to smaller groups is not executed", "true | false"},
      {"wrapping.memory_limit", [](const Recipe& r) { return r.wrapping.memory_limit > 0; },
       "plans do not heed a memory limit", "\"\""},
      {"recompute.mode", [](const Recipe& r) { return r.recompute.mode != RecomputeMode::none; },
       "recomputation is not executed", "\"none\""},
      {"precision.param", [](const Recipe& r) { return r.precision.param != Precision::fp32; },
       "only fp32 is computed in", "\"fp32\""},
      {"precision.reduce", [](const Recipe& r) { return r.precision.reduce != Precision::fp32; },
       "only fp32 is reduced in", "\"fp32\""},
      {"override", [](const Recipe& r) { return !r.overrides.empty(); },
       "exceptions by module are not executed", "no [[override]]"},
  };
  return all;
}

}  // namespace

std::vector<Fault> unsupported(const Parsed& resolved) {
  Parsed faults;
  faults.file = resolved.file;
  faults.places = resolved.places;
  Checks checks(faults);
  for (const Limit& limit : limits()) {
    if (limit.asked(resolved.recipe)) {
      checks.fault({limit.key}, fmt::format("{} by this version's train", limit.what), limit.valid);
    }
  }
  return faults.faults;
}

}  // namespace heddle::recipe
