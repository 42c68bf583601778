#include "engine/predict/plan_hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <utility>

#include "engine/graph/text.h"

namespace heddle::predict {

std::string plan_text(graph::Graph& planned) {
  auto notes = std::exchange(planned.notes, {});
  std::string text = graph::to_text(planned);
  planned.notes = std::move(notes);
  return text;
}

std::string plan_hash(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string joined_hash(const std::vector<std::string>& of_stages) {
  if (of_stages.size() == 1) return of_stages.front();
  return plan_hash(fmt::format("{}", fmt::join(of_stages, " ")));
}

}  // namespace heddle::predict
