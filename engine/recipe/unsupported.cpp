// Features that the engine cannot execute yet. A line goes when the engine gains it.
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
      {"wrapping.reshard_after_forward",
       [](const Recipe& r) { return r.wrapping.reshard_after_forward > 0; },
       "resharding to smaller groups", "true | false"},
      {"parallelism.async_tp", [](const Recipe& r) { return r.parallelism.async_tp; },
       "async_tp: only plans of other programs know it", "false"},
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
      checks.fault({limit.key}, fmt::format("this version does not train with {}", limit.what),
                   limit.valid);
    }
  }
  return faults.faults;
}

}  // namespace heddle::recipe
